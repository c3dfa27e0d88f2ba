// Bench 4: two translators learn, one with a single context vector, one with attention. They learn in a Worker, so that the
// page stays responsive; until then the page shows a training that the native program recorded.
//
// The layouts of request and answer are those of translators.h:
//   translators_learn      seed, step, steps -> the step reached, then both losses of each step
//   translators_keep       number -> step
//   translators_load       count, bytes -> count
//   translators_score      state -> count of lengths, and for each: length, sentences, exact ones of both
//   translators_translate  state, 0 or 1 for attention, text, count of forbidden cells, word and key of each
//                          -> count of unknown tokens, each (a text); if none: count of words, each; count of keys, each;
//                             with attention: weights, a row for each word
// A state is one that was kept, or -1 for the present one.

// A translation from the answer of translators_translate.
function readTranslation(numbers) {
  const read = new NumberReader(numbers), texts = () => read.list(() => read.text()), unknown = texts();
  if (unknown.length) return {unknown};
  const words = texts(), keys = texts();
  const weights = read.at < numbers.length ? words.map(() => [...read.many(keys.length)]) : undefined;
  return {words, keys, weights, text: words.filter(one => one !== '<eos>').join(' ')};
}
// Exact translations of two neighboring lengths together: {length, sentences, exact: [one vector, attention]}.
function readScore(numbers) {
  const read = new NumberReader(numbers), groups = new Map();
  read.list(() => {
    const [length, sentences, ...exact] = read.many(4), upper = 2 * Math.ceil(length / 2);
    const group = groups.get(upper) ?? {length: upper, sentences: 0, exact: [0, 0]};
    group.sentences += sentences;
    exact.forEach((count, i) => { group.exact[i] += count; });
    groups.set(upper, group);
  });
  return [...groups.values()];
}

bench('translators', class extends Bench {
  static functions = ['translators_learn', 'translators_load', 'translators_keep', 'translators_score', 'translators_translate'];
  static defaults = {at: 0, text: '我爱中国', forbidden: []};
  static question = {answers: ['short', 'long', 'same'], right: 'long'};
  static still = true;  // without WebAssembly the record remains
  static goals = ['right', 'parted', 'forbid'];
  static concepts = ['4_encoder_and_decoder#C-003-02', '4_encoder_and_decoder#C-003-05', '3_scores_and_self_attention#C-003-18'];

  // The training that the page came with. `states` have a step, a score and translations; `answers` are by text and cells.
  begin() {
    this.record ??= given.record;
    this.seed = this.record.seed;
    this.losses = this.record.losses;
    this.states = this.record.states.map(({step, score, translations}) => ({
      step, score: readScore(score), answers: new Map(translations.flatMap(([one, attention], i) => {
        const {source} = this.record.texts[i];
        return [[`0 ${source} `, readTranslation(one)], [`1 ${source} `, readTranslation(attention)]];
      }))}));
    this.own = false;  // whether the states are those of the reader's Worker
  }
  get lastRecorded() { return this.record.states.length - 1; }
  // Whether the Worker can translate any text in the chosen state.
  get canTranslate() { return !isStill && (this.own || this.state.at === this.lastRecorded); }

  // The Worker, with the recorded parameters as its present state.
  async startedWorker() {
    if (this.worker) return this.worker;
    this.worker = new HeedWorker();
    const bytes = bytesOf(this.record.packed);
    await this.worker.call('translators_load', [bytes.length, ...bytes]);
    return this.worker;
  }
  // The translation of the text in a state; undefined until the Worker has answered.
  translation(attends, text, forbidden) {
    const state = this.states[this.state.at], key = `${attends} ${text} ${forbidden}`;
    if (!state.answers.has(key) && this.canTranslate) {
      state.answers.set(key, undefined);
      this.translate(this.own ? this.state.at : -1, attends, text, forbidden).then(answer => {
        state.answers.set(key, answer);
        this.ask();
      }, error => this.lose(error));
    }
    return state.answers.get(key);
  }
  async translate(state, attends, text, forbidden) {
    const worker = await this.startedWorker();
    const request = [state, attends, ...textNumbers(text), forbidden.length / 2, ...forbidden];
    return readTranslation(await worker.call('translators_translate', request));
  }
  // An error ends the instance of the Worker and with it what it learned.
  lose(error) {
    this.problem = error.message;
    this.stop();
    this.worker = undefined;
    this.begin();
    this.ask();
  }

  // Trains from the beginning, or goes on where it was stopped. Each state of the record has its counterpart.
  async learn() {
    if (!this.own || this.states.length > this.lastRecorded) {
      Object.assign(this, {own: true, states: [], losses: [], step: 0, time: 0});
      this.change({forbidden: []});
    }
    this.running = this.follows = true;
    this.problem = undefined;
    try {
      const worker = await this.startedWorker();
      while (this.running && this.states.length <= this.lastRecorded) {
        const {step} = this.record.states[this.states.length];
        if (this.step < step || !this.states.length) await this.some(worker, Math.min(this.record.every, step - this.step));
        if (this.step === step) await this.keepState(worker);
      }
    } catch (error) {
      this.lose(error);
    }
    this.stop();
  }
  // Some steps of training, and their mean losses.
  async some(worker, steps) {
    const begin = performance.now(), answer = await worker.call('translators_learn', [this.seed, this.step, steps]);
    this.time += performance.now() - begin;
    this.step = answer[0];
    const mean = which => range(steps).reduce((sum, i) => sum + answer[1 + 2 * i + which] / steps, 0);
    if (steps) this.losses.push([mean(0), mean(1)]);
    this.ask();
  }
  // Keeps the present state under its place on the slider.
  async keepState(worker) {
    const number = this.states.length, {step} = this;
    await worker.call('translators_keep', [number]);
    const score = readScore(await worker.call('translators_score', [number])), state = {step, score, answers: new Map(), time: this.time};
    for (const attends of [0, 1]) {
      const answer = await this.translate(number, attends, this.state.text, []);
      state.answers.set(`${attends} ${this.state.text} `, answer);
      if (attends && answer.text === this.reference() && !this.firstRight) this.firstRight = {step, time: this.time};
    }
    this.states.push(state);
    if (this.follows) this.change({at: number});
    if (still.matches && number) this.stop();  // without motion, a press goes on to the next state
  }
  stop() {
    this.running = false;
    this.ask();
  }
  reference() { return this.record.texts.find(({source}) => source === this.state.text)?.target; }

  setup(stage) {
    if (!this.record) this.begin();
    this.picture = svg('svg', {class: 'plot matrix', tabindex: 0, role: 'img', onclick: event => this.tap(event),
                               onkeydown: event => this.walk(event)});
    this.pick = [0, 0];
    this.said = html('div', {class: 'translations'});
    this.lengths = new Plot(this.word('lengths'), 220);
    this.curve = new Plot(this.word('losses'), 170);
    const figure = (name, node, ...more) => html('figure', {}, html('figcaption', {}, this.word(name)), node, ...more);
    stage.append(
        html('div', {class: 'pictures two'},
            html('div', {}, figure('alignment', html('div', {class: 'scroll tall', tabindex: -1}, this.picture)), this.said),
            html('div', {}, figure('lengths', html('div', {}, this.lengths.svg)), figure('losses', html('div', {}, this.curve.svg)))),
        this.player(), this.sentence());
  }
  player() {
    this.learnButton = button(this.word('learn'), () => this.running ? this.stop() : this.learn(), {class: 'main', disabled: isStill});
    this.place = slider({name: this.word('state'), min: 0, max: this.lastRecorded, step: 1, value: 0, text: at => this.stepText(at),
                         change: at => { this.follows = false; this.change({at}); }});
    return html('div', {class: 'reach'}, this.learnButton, this.place.node);
  }
  stepText(at) {
    const state = this.states[at];
    return state ? this.word(this.own ? 'state.own' : 'state.recorded', {step: state.step}) : '';
  }
  sentence() {
    this.text = html('input', {type: 'text', maxlength: 30, spellcheck: 'false', autocomplete: 'off', lang: 'zh-CN', 'aria-label': this.word('text'),
                               onchange: () => this.write(this.text.value)});
    this.clear = button(this.word('clear'), () => this.change({forbidden: []}));
    const samples = this.record.texts.map(({source}) => button(source, () => this.write(source), {lang: 'zh-CN'}));
    return html('div', {}, html('label', {class: 'wide'}, html('span', {}, this.word('text')), this.text),
                html('div', {class: 'row'}, samples, this.clear));
  }
  // Another sentence. The recorded training can translate those of the reader only in its last state.
  write(text) {
    const wanted = text.trim();
    if (!wanted) return;
    this.pick = [0, 0];
    const known = this.states[this.state.at].answers.has(`1 ${wanted} `);
    this.change({text: wanted, forbidden: [], at: known || this.own ? this.state.at : this.lastRecorded});
  }

  // The cells, by mouse, finger and keyboard.
  tap(event) {
    const box = this.picture.getBoundingClientRect();
    const key = Math.floor((event.clientX - box.left - this.left) / 44), word = Math.floor((event.clientY - box.top - 20) / 44);
    if (!this.shown || key < 0 || key >= this.shown.keys.length || word < 0 || word >= this.shown.words.length) return;
    this.pick = [word, key];
    this.flip();
  }
  walk(event) {
    const [down, right] = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key] ?? [];
    if (!this.shown) return;
    if (event.key === 'Enter' || event.key === ' ') this.flip();
    else if (down === undefined) return;
    else this.pick = [clamp(this.pick[0] + down, 0, this.shown.words.length - 1), clamp(this.pick[1] + right, 0, this.shown.keys.length - 1)];
    event.preventDefault();
    this.tellCell();
    this.ask();
  }
  tellCell() {
    const [i, j] = this.pick, {words, keys, weights} = this.shown;
    this.line.say(this.word('cell', {word: this.nameOf(words[i]), key: keys[j], weight: fixed(weights[i][j])}));
  }
  isForbidden(i, j) { return range(this.state.forbidden.length / 2).some(n => this.state.forbidden[2 * n] === i && this.state.forbidden[2 * n + 1] === j); }
  // Forbids the chosen cell, or allows it again.
  flip() {
    if (!this.canTranslate) return this.line.say(this.word('only'));
    const [i, j] = this.pick, {forbidden} = this.state, pairs = range(forbidden.length / 2).map(n => forbidden.slice(2 * n, 2 * n + 2));
    const others = pairs.filter(([a, b]) => a !== i || b !== j);
    this.change({forbidden: (others.length < pairs.length ? others : [...pairs, [i, j]]).flat()});
  }

  see() {
    const {text, forbidden} = this.state, at = this.state.at = clamp(Math.round(this.state.at) || 0, 0, Math.max(0, this.states.length - 1));
    if (document.activeElement !== this.text) this.text.value = text;
    this.clear.disabled = !forbidden.length;
    this.place.input.max = Math.max(this.states.length - 1, 0);
    this.place.show(at);
    this.learnButton.textContent = this.word(this.running ? 'stop' : !this.own || this.states.length > this.lastRecorded ? 'learn' : 'on');
    if (this.states.length) {
      const plain = this.translation(1, text, []);
      this.now = {one: this.translation(0, text, []), plain, attention: forbidden.length ? this.translation(1, text, forbidden) : plain};
      this.drawAlignment();
      this.showTranslations();
      this.drawLengths();
      this.judge();
    }
    this.drawLosses();
    this.tell();
  }
  nameOf(token) { return token === '<eos>' ? this.word('end') : token; }
  tell() {
    if (this.problem) return this.line.say(word('page.fault', {message: this.problem}));
    if (this.running) return this.line.say(this.word('learning', {step: this.step, seconds: fixed(this.time / 1000, 1)}));
    const {one, attention} = this.now ?? {};
    if (this.state.forbidden.length && attention?.text && this.now.plain)
      return this.line.say(this.word(attention.text === this.now.plain.text ? 'unchanged' : 'changed', {text: attention.text}));
    if (one?.text !== undefined && attention?.text !== undefined) this.line.say(this.word('now', {one: one.text, attention: attention.text}));
  }

  // The words of the translation (rows) and of the sentence (columns). While the Worker translates, the last picture stays.
  drawAlignment() {
    const shown = this.now.attention;
    if (shown?.weights) this.shown = shown;
    else if (!shown && !this.canTranslate) this.shown = undefined;
    if (!this.shown) return this.picture.replaceChildren();
    const {words, keys, weights} = this.shown, names = words.map(word => this.nameOf(word));
    const left = this.left = Math.max(...names.map(widthOf)) + 12, width = left + 44 * keys.length + 2, height = 22 + 44 * words.length;
    const chosen = document.activeElement === this.picture ? this.pick : [];
    fill(this.picture, {width, height, viewBox: `0 0 ${width} ${height}`, 'aria-label': this.word('alignment') + ': ' + words.map((_, i) =>
        `${names[i]}: ${keys.map((key, j) => `${key} ${fixed(weights[i][j])}`).join(', ')}`).join('; ')}, []);
    this.picture.replaceChildren(
        ...heatCells(weights, {x: left, y: 20, cell: [44, 44], attributes: (i, j) => ({class: `cell${chosen[0] === i && chosen[1] === j ? ' chosen' : ''}`})}),
        ...weights.flatMap((row, i) => row.map((_, j) => this.isForbidden(i, j) &&
            svg('rect', {class: 'forbidden', x: left + 44 * j, y: 20 + 44 * i, width: 44, height: 44}))).filter(Boolean),
        ...names.map((name, i) => label(left - 6, 20 + 44 * i + 26, name, {'text-anchor': 'end', class: words[i] === '<eos>' ? 'soft' : 'strong'})),
        ...keys.map((key, j) => label(left + 44 * j + 22, 14, key, {'text-anchor': 'middle', class: 'strong'})));
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
    const isSame = attention.text === plain.text;
    this.said.replaceChildren(line('one', one), line('attention', plain),
        ...this.state.forbidden.length ? [line('forbidden', attention), html('p', {class: 'soft'}, this.word(isSame ? 'same' : 'different'))]
                                       : [html('p', {class: 'soft'}, this.word('tap'))]);
  }
  // The names of both curves, where they end, apart from each other.
  nameCurves(plot, x, heights) {
    const names = ['one', 'attention'].map((name, i) => [plot.py(heights[i]) - 5, name]).sort(([a], [b]) => b - a);
    let free = plot.bottom - 4;
    for (const [y, name] of names) {
      const place = Math.min(y, free);
      free = place - 15;
      plot.draw(label(plot.px(x) - 4, Math.max(place, plot.margin.top + 12), this.word('kind.' + name), {'text-anchor': 'end', class: 'strong'}));
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
    const {every, states} = this.record, plot = this.curve, xs = this.losses.map((_, i) => (i + 0.5) * every), step = this.states[this.state.at]?.step ?? 0;
    plot.begin([0, states.at(-1).step], [0, 5]);
    plot.axes(this.word('axis.step'), this.word('axis.loss'));
    plot.draw(svg('line', {class: 'query-line', x1: plot.px(step), x2: plot.px(step), y1: plot.margin.top, y2: plot.bottom}));
    if (!xs.length) return;
    plot.curve(xs, this.losses.map(([one]) => one), 'series1');
    plot.curve(xs, this.losses.map(([, attention]) => attention), 'series0');
  }

  judge() {
    const {score, step} = this.states[this.state.at], long = score.filter(({length}) => length >= 12);
    const share = which => long.reduce((sum, {exact}) => sum + exact[which], 0) / long.reduce((sum, {sentences}) => sum + sentences, 0);
    if (step >= 300) this.answered();
    if (share(1) > 0.75 && share(0) < 0.25) this.reach('parted');
    if (this.own && this.firstRight) this.reach('right');
    const {plain, attention} = this.now;
    if (this.state.forbidden.length && plain?.text && attention?.text && plain.text !== attention.text) this.reach('forbid');
  }
  table() {
    const {score} = this.states[this.state.at] ?? {score: []}, {words = [], keys, weights} = this.shown ?? {};
    return [[this.word('row'), this.word('sentences'), this.word('kind.one'), this.word('kind.attention')],
            [...score.map(({length, sentences, exact}) => [this.word('row.length', {from: length - 1, to: length}), sentences, ...exact]),
             ...words.map((word, i) => [this.nameOf(word), '', '', keys.map((key, j) => `${key} ${fixed(weights[i][j])}`).join(', ')]),
             ...this.losses.map(([one, attention], i) => [this.word('row.step', {step: (i + 1) * this.record.every}), '', fixed(one, 3), fixed(attention, 3)])]];
  }
  // The same on twelve sentences.
  program() {
    return `// translators.cpp: ${this.word('title')}
#include <heed.h>
#include <heed/text.h>

#include <iostream>
using namespace heed;

// A GRU reads the sentence and another writes; each word attends to the states of the source, or has the last one alone.
struct Translator : Layer<Translator> {
  Translator(int64_t from, int64_t to, bool attend)
      : attends(attend), source(from, 32), target(to, 32), reader(32, 64, {.batch_first = true}),
        writer(32, 64, {.batch_first = true}), join(128, 64), output(64, to) {}

  Tensor forward(const PaddedBatch& batch, const Tensor& input, Tensor* weights = nullptr) {
    const auto [h, last] = reader(source(batch.ids), Tensor(), batch.lengths);  // [B, S, H], [1, B, H]
    const auto [s, end] = writer(target(input), last);                         // [B, T, H]
    Tensor context = expand(transpose(last, 0, 1), s.shape());
    if (attends) {
      const AttentionResult result = attention(s, h, Mask::lengths(batch.lengths, h.size(1)));
      context = result.output;
      if (weights) *weights = result.weights;
    }
    return output(tanh(join(cat({s, context}, -1))));
  }
  void visit(Visitor& v) override {
    v("source", source); v("target", target); v("reader", reader); v("writer", writer);
    v("attention", attention); v("join", join); v("output", output);
  }

  bool attends;
  Embedding source, target;
  GRU reader, writer;
  AttentionPooling<AdditiveScore> attention{AdditiveScore(64, 64, 64)};
  Linear join, output;
};

int main() {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"我爱北京", "I love Beijing"}, {"我爱茶", "I love tea"}, {"你爱中国", "You love China"}, {"你爱茶", "You love tea"},
      {"他爱北京", "He loves Beijing"}, {"他爱中国", "He loves China"}, {"我去中国", "I go to China"}, {"我去北京", "I go to Beijing"},
      {"你去中国", "You go to China"}, {"他去北京", "He goes to Beijing"}, {"我喝茶", "I drink tea"}, {"他喝茶", "He drinks tea"}};
  std::vector<Tokens> chinese, english;
  for (const auto& [from, to] : pairs) {
    chinese.push_back(split_characters(from));
    english.push_back(split_words(to));
  }
  const Vocabulary from(chinese), to(english);
  std::vector<Ids> sources, targets;
  for (const Tokens& tokens : chinese) sources.push_back(from.encode(tokens));
  for (const Tokens& tokens : english) targets.push_back(to.encode(tokens));
  const PaddedBatch batch = pad_batch(sources), test = pad_batch({from.encode(split_characters("我爱中国"))});
  const TeacherForcing forced = teacher_forcing(targets);

  for (const bool attends : {false, true}) {
    manual_seed(1);
    Translator model(from.size(), to.size(), attends);
    Adam adam(model.parameters(), {.lr = 5e-3});
    for (int step = 0; step < 200; ++step) {
      const Tensor loss = sequence_loss(model(batch, forced.input), forced.labels, forced.lengths);
      adam.zero_grad();
      loss.backward();
      adam.step();
      if (step % 50 == 49) std::cout << "step " << step + 1 << ": loss " << loss.item() << '\\n';
    }
    const NoGrad guard;
    Ids words = {Vocabulary::bos};
    Tensor weights;
    while (words.back() != Vocabulary::eos && words.size() < 10) {
      const Tensor logits = model.forward(test, from_vector(words, {1, std::ssize(words)}), &weights);
      words.push_back(argmax(select(logits, 1, -1), -1).item<int64_t>());
    }
    std::cout << (attends ? "attention: " : "one vector: ") << join_words(to.decode(words)) << '\\n';
    if (attends) std::cout << weights << '\\n';
  }
}
`;
  }
});
