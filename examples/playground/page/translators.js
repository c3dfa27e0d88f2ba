// Bench 4: two translators learn, one with a single context vector, one with attention. Until the reader lets them
// learn, the page shows a training that the native program recorded; see training.js.

const mostRows = 10;  // of the alignment: a translator without training goes on and on

bench('translators', class extends TrainingBench {
  static functions = ['translators_learn', 'translators_load', 'translators_keep', 'translators_score',
                      'translators_translate'];
  static defaults = {at: 0, text: '我爱中国', forbidden: []};
  static question = {answers: ['short', 'long', 'same'], right: 'long'};
  static still = true;  // without WebAssembly the record remains
  static goals = ['right', 'parted', 'forbid'];
  static concepts = ['4_encoder_and_decoder#C-003-02', '4_encoder_and_decoder#C-003-05',
                     '3_scores_and_self_attention#C-003-18'];

  setup(stage) {
    if (!this.record) this.begin();
    this.picture = svg('svg', {class: 'plot matrix', tabindex: 0, role: 'img', onclick: event => this.tap(event),
                               onkeydown: event => this.walk(event)});
    this.pick = [0, 0];
    this.said = html('div', {class: 'translations'});
    this.lengths = new Plot(this.word('lengths'), 220);
    this.curve = new Plot(this.word('losses'), 170);
    const figure = (name, node, attributes = {}) =>
        html('figure', {}, html('figcaption', {}, this.word(name)), html('div', attributes, node));
    const alignment = figure('alignment', this.picture, {class: 'scroll tall', tabindex: -1});
    stage.append(
        this.sentence(), this.player(),
        html('div', {class: 'pictures two'}, html('div', {}, alignment, this.said),
             html('div', {}, figure('lengths', this.lengths.svg), figure('losses', this.curve.svg))));
  }
  player() {
    const press = () => this.running ? this.stop() : this.learn();
    this.learnButton = button(this.word('learn'), press, {class: 'main', disabled: isStill});
    this.place = slider({name: this.word('state'), min: 0, max: this.lastRecorded, step: 1, value: 0,
                         text: at => this.stepText(at),
                         change: at => { this.follows = false; this.change({at}); }});
    return html('div', {class: 'reach'}, this.learnButton, this.place.node);
  }
  stepText(at) {
    const state = this.states[at];
    return state ? this.word(this.own ? 'state.own' : 'state.recorded', {step: state.step}) : '';
  }
  sentence() {
    this.text = html('input', {type: 'text', maxlength: 30, spellcheck: 'false', autocomplete: 'off', lang: 'zh-CN',
                               'aria-label': this.word('text'), onchange: () => this.write(this.text.value)});
    this.clear = button(this.word('clear'), () => this.change({forbidden: []}));
    const samples = this.record.texts.map(({source}) => button(source, () => this.write(source), {lang: 'zh-CN'}));
    return html('div', {}, html('label', {class: 'wide'}, html('span', {}, this.word('text')), this.text),
                html('div', {class: 'row'}, samples, this.clear));
  }
  // Another sentence. The recorded training can translate those of the reader only in its last state.
  write(text) {
    const wanted = text.trim();
    if (!wanted.replace(/[。？！.?!]+$/, '')) return;
    this.pick = [0, 0];
    const known = this.states[this.state.at]?.answers.has(this.keyOf(1, wanted, []));
    this.change({text: wanted, forbidden: [], at: known || this.own ? this.state.at : this.lastRecorded});
  }

  // The cells, by mouse, finger and keyboard.
  tap(event) {
    const box = this.picture.getBoundingClientRect(), cell = pixels => Math.floor(pixels / 44);
    const word = cell(event.clientY - box.top - 20), key = cell(event.clientX - box.left - this.left);
    if (this.shown?.weights[word]?.[key] === undefined) return;
    this.pick = [word, key];
    this.flip();
  }
  walk(event) {
    if (!this.shown) return;
    const next = cellBeside(this.pick, event.key, this.shown.weights.slice(0, mostRows));
    if (event.key === 'Enter' || event.key === ' ') this.flip();
    else if (next) this.pick = next;
    else return;
    event.preventDefault();
    this.tellCell();
    this.ask();
  }
  tellCell() {
    const [i, j] = this.pick, {words, keys, weights} = this.shown;
    this.line.say(this.word('cell', {word: this.nameOf(words[i]), key: keys[j], weight: fixed(weights[i][j])}));
  }
  // The forbidden cells: word and key of each.
  get cells() {
    const {forbidden} = this.state;
    return range(forbidden.length / 2).map(n => forbidden.slice(2 * n, 2 * n + 2));
  }
  isForbidden(i, j) { return this.cells.some(([word, key]) => word === i && key === j); }
  // Forbids the chosen cell, or allows it again.
  flip() {
    if (!this.canTranslate) return this.line.say(this.word('only'));
    if (this.shownText !== this.state.text) return;  // the picture is still that of the sentence before
    const [i, j] = this.pick, others = this.cells.filter(([word, key]) => word !== i || key !== j);
    this.change({forbidden: (this.isForbidden(i, j) ? others : [...others, [i, j]]).flat()});
  }

  see() {
    const {text, forbidden} = this.state, last = Math.max(0, this.states.length - 1);
    const at = this.state.at = clamp(Math.round(this.state.at) || 0, 0, last);
    if (document.activeElement !== this.text) this.text.value = text;
    this.clear.disabled = !forbidden.length;
    this.place.input.max = last;
    this.place.show(at);
    this.learnButton.textContent = this.word(this.running ? 'stop' : this.own && !this.isComplete ? 'on' : 'learn');
    if (this.states.length) {
      const one = this.translation(0, text, []), plain = this.translation(1, text, []);
      this.now = {one, plain, attention: forbidden.length ? this.translation(1, text, forbidden) : plain};
      this.drawAlignment();
      this.showTranslations();
      this.drawLengths();
      this.judge();
    }
    this.drawLosses();
    this.tell();
  }
  timeText() { return this.word('learning', {step: this.step, seconds: fixed(this.time / 1000, 1)}); }
  nameOf(token) { return token === '<eos>' ? this.word('end') : token; }
  tell() {
    if (this.running) return this.line.say(this.timeText());
    const {one, plain, attention} = this.now ?? {};
    if (attention?.text === undefined) return;
    if (this.state.forbidden.length && plain)
      this.line.say(this.word(attention.text === plain.text ? 'unchanged' : 'changed', {text: attention.text}));
    else if (one?.text !== undefined)
      this.line.say(this.word('now', {one: one.text, attention: attention.text}));
  }

  // The words of the translation (rows) and of the sentence (columns). While the Worker translates, the last picture
  // stays.
  drawAlignment() {
    const shown = this.now.attention;
    if (shown?.weights) [this.shown, this.shownText] = [shown, this.state.text];
    else if (!shown && !this.canTranslate) this.shown = undefined;
    if (!this.shown) return this.picture.replaceChildren();
    const {keys} = this.shown, some = all => all.slice(0, mostRows);
    const words = some(this.shown.words), weights = some(this.shown.weights);
    const names = words.map(word => this.nameOf(word));
    const left = this.left = Math.ceil(1.2 * Math.max(...names.map(widthOf))) + 10, top = 20;  // for bold letters
    const width = left + 44 * keys.length + 2, height = top + 44 * words.length + 2;
    const spoken = names.map((name, i) => `${name}: ${this.weightsText(i)}`).join('; ');
    fill(this.picture, {width, height, viewBox: `0 0 ${width} ${height}`,
                        'aria-label': `${this.word('alignment')}: ${spoken}`}, []);
    const [row, column] = document.activeElement === this.picture ? this.pick : [];
    const attributes = (i, j) => ({class: i === row && j === column ? 'cell chosen' : 'cell'});
    this.picture.replaceChildren(
        ...heatCells(weights, {x: left, y: top, cell: [44, 44], attributes}),
        ...this.cells.filter(([i, j]) => weights[i]?.[j] !== undefined).map(([i, j]) =>
            svg('rect', {class: 'forbidden', x: left + 44 * j, y: top + 44 * i, width: 44, height: 44})),
        ...names.map((name, i) => label(left - 6, top + 44 * i + 26, name,
            {'text-anchor': 'end', class: words[i] === '<eos>' ? 'soft' : 'strong'})),
        ...keys.map((key, j) => label(left + 44 * j + 22, 14, key, {'text-anchor': 'middle', class: 'strong'})));
  }
  // The weights of a word of the translation: 我 0.98, 爱 0.01, ...
  weightsText(i) {
    const {keys, weights} = this.shown;
    return keys.map((key, j) => `${key} ${fixed(weights[i][j])}`).join(word('page.comma'));
  }
  showTranslations() {
    const {one, plain, attention} = this.now, reference = this.reference();
    const mark = text => reference === undefined ? '' : text === reference ? ' ✓' : ' ✗';
    const line = (name, translation) => html('p', {}, html('span', {class: 'soft'}, this.word('kind.' + name) + ' '),
        html('b', {lang: 'en'}, translation.text + mark(translation.text)));
    const unknown = attention?.unknown ?? one?.unknown;
    if (unknown) return this.said.replaceChildren(html('p', {}, this.word('unknown', {words: unknown.join(' ')})));
    if (!attention && !this.canTranslate) return this.said.replaceChildren(html('p', {}, this.word('only')));
    if (!one || !attention || !plain) return;  // the Worker is translating
    const isChanged = this.state.forbidden.length > 0;
    const told = !isChanged ? 'tap' : attention.text === plain.text ? 'same' : 'different';
    this.said.replaceChildren(line('one', one), line('attention', plain),
        ...isChanged ? [line('forbidden', attention)] : [], html('p', {class: 'soft'}, this.word(told)));
  }
  // The names of both curves, where they end, apart from each other.
  nameCurves(plot, x, heights) {
    const names = ['one', 'attention'].map((name, i) => [plot.py(heights[i]) - 5, name]).sort(([a], [b]) => b - a);
    let free = plot.bottom - 4;
    for (const [y, name] of names) {
      const place = Math.min(y, free);
      free = place - 15;
      plot.draw(label(plot.px(x) - 4, Math.max(place, plot.margin.top + 12), this.word('kind.' + name),
                      {'text-anchor': 'end', class: 'strong'}));
    }
  }
  drawLengths() {
    const {score} = this.states[this.state.at], xs = score.map(({length}) => length), plot = this.lengths;
    const shares = which => score.map(({sentences, exact}) => 100 * exact[which] / sentences);
    plot.begin([xs[0], xs.at(-1)], [0, 105]);
    plot.axes(this.word('axis.length'), this.word('axis.exact'), xs);
    plot.curve(xs, shares(0), 'series1');
    plot.curve(xs, shares(1), 'series0');
    this.nameCurves(plot, xs.at(-1), [shares(0).at(-1), shares(1).at(-1)]);
  }
  drawLosses() {
    const {every, states} = this.record, plot = this.curve, xs = this.losses.map((_, i) => (i + 0.5) * every);
    plot.begin([0, states.at(-1).step], [0, 5]);
    plot.axes(this.word('axis.step'), this.word('axis.loss'));
    const x = plot.px(this.states[this.state.at]?.step ?? 0);
    plot.draw(svg('line', {class: 'query-line', x1: x, x2: x, y1: plot.margin.top, y2: plot.bottom}));
    if (!xs.length) return;
    plot.curve(xs, this.losses.map(([one]) => one), 'series1');
    plot.curve(xs, this.losses.map(([, attention]) => attention), 'series0');
    this.nameCurves(plot, xs.at(-1), this.losses.at(-1));
    if (!this.own) return;
    plot.draw(label(plot.right, plot.margin.top + 10, this.timeText(), {'text-anchor': 'end', class: 'soft'}));
  }

  judge() {
    const {score, step} = this.states[this.state.at], long = score.filter(({length}) => length >= 12);
    const total = count => long.reduce((sum, group) => sum + count(group), 0);
    const share = which => total(({exact}) => exact[which]) / total(({sentences}) => sentences);
    if (step >= 300) this.answered();
    if (share(1) > 0.75 && share(0) < 0.25) this.reach('parted');
    if (this.own && this.firstRight) this.reach('right');
    const {plain, attention} = this.now, isKnown = plain?.text && attention?.text;
    if (this.state.forbidden.length && isKnown && plain.text !== attention.text) this.reach('forbid');
  }
  tables() {
    const {score} = this.states[this.state.at] ?? {score: []}, {words = [], keys = [], weights} = this.shown ?? {};
    const both = [this.word('kind.one'), this.word('kind.attention')];
    return [
      [this.word('alignment'), ['', ...keys],
       words.map((word, i) => [this.nameOf(word), ...weights[i].map(weight => fixed(weight, 3))])],
      [this.word('lengths'), [this.word('characters'), this.word('sentences'), ...both],
       score.map(({length, sentences, exact}) => [`${length - 1}–${length}`, sentences, ...exact])],
      [this.word('losses'), [this.word('axis.step'), ...both],
       this.losses.map((losses, i) => [(i + 1) * this.record.every, ...losses.map(loss => fixed(loss, 3))])]];
  }
  program() { return translatorsProgram(this.word('title')); }
});
