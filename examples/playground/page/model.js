// Bench 7: your model. A small transformer learns which character comes next in the reader's own text, in a Worker.
//
// The layouts of request and answer are those of model.h:
//   model_sample  0 or 1 for Chinese -> a text
//   model_begin   seed, text -> characters, different ones, parameters
//   model_learn   step, steps -> the step reached, bits of the held-out text before, bits of each step
//   model_write   seed, temperature, count, beginning -> characters, and for each that was written: weights

// What is set, and its reason: model.setting.KEY and model.why.KEY.
const modelSettings = [['width', 48], ['heads', 4], ['layers', 2], ['context', 48], ['windows', 8], ['rate', 0.003],
                       ['steps', 600]];
const modelSteps = 600;
const sampleSteps = [0, 20, 50, 100, 200, 300, 450, 600];  // after these it writes a sample
const cellsInRow = 16;

bench('model', class extends Bench {
  static functions = ['model_sample', 'model_begin', 'model_learn', 'model_write'];
  static defaults = {sample: 0, temperature: 0.7, beginning: 'I ', seed: 1, at: 0};
  static question = {answers: ['letters', 'words', 'meaning'], right: 'letters'};
  static goals = ['bits', 'heart', 'cold'];
  static concepts = ['7_transformer', '5_multi_head_and_masks#C-100-06'];

  setup(stage) {
    this.samples ??= [0, 1].map(which => new NumberReader(heed.call('model_sample', [which])).text());
    this.training ??= {step: 0, bits: [], unseen: [], written: []};
    this.plot = new Plot(this.word('curve'), 230);
    this.row = svg('svg', {class: 'plot', role: 'img', 'aria-label': this.word('attention')});
    this.list = html('ol', {class: 'samples'});
    this.told = html('p', {class: 'soft'});
    this.result = html('p', {class: 'written', lang: ''});
    const figure = (name, node, ...more) =>
        html('figure', {}, html('figcaption', {}, this.word(name)), html('div', {}, node), ...more);
    stage.append(
        this.textBox(), this.player(),
        html('div', {class: 'pictures two'}, figure('curve', this.plot.svg, this.told),
             html('figure', {}, html('figcaption', {}, this.word('samples')), this.list)),
        html('div', {}, this.writer(), this.result, figure('attention', this.row)), this.settings());
  }
  textBox() {
    this.text ??= this.samples[this.state.sample] ?? '';
    this.box = html('textarea', {rows: 7, spellcheck: 'false', 'aria-label': this.word('text'),
                                 onchange: () => this.useText(this.box.value, 2)});
    this.box.value = this.text;
    this.sample = choice({name: this.word('sample'), value: this.state.sample,
                          options: ['english', 'chinese', 'own'].map((one, i) => [i, this.word('sample.' + one)]),
                          change: sample => this.useText(this.samples[sample] ?? this.text, sample)});
    const named = html('label', {class: 'wide'}, html('span', {}, this.word('text')), this.box);
    return html('div', {}, this.sample.node, named);
  }
  player() {
    this.learnButton = button(this.word('learn'), () => this.running ? this.stop() : this.learn(), {class: 'main'});
    return html('div', {class: 'reach'}, this.learnButton, button(this.word('again'), () => this.restart()));
  }
  writer() {
    this.temperature = slider({name: this.word('temperature'), min: 0, max: 1.5, step: 0.1, value: 0,
                               text: value => fixed(value, 1), change: temperature => this.change({temperature})});
    this.beginning = html('input', {type: 'text', maxlength: 60, spellcheck: 'false', autocomplete: 'off',
                                    'aria-label': this.word('beginning'),
                                    onchange: () => this.change({beginning: this.beginning.value})});
    this.place = slider({name: this.word('at'), min: 0, max: 1, step: 1, value: 0, text: at => this.nameAt(at),
                         change: at => this.change({at})});
    return html('div', {class: 'controls'},
                html('label', {class: 'wide'}, html('span', {}, this.word('beginning')), this.beginning),
                this.temperature.node,
                html('div', {class: 'row'}, button(this.word('write'), () => this.write())), this.place.node);
  }
  settings() {
    const row = ([key, value]) => html('tr', {}, html('th', {scope: 'row'}, this.word('setting.' + key)),
        html('td', {}, String(value)), html('td', {class: 'why'}, this.word('why.' + key)));
    return html('details', {}, html('summary', {}, this.word('settings')),
                html('div', {class: 'wide scroll-x'}, html('table', {}, html('tbody', {}, modelSettings.map(row)))));
  }

  // Another text begins another model.
  useText(text, sample) {
    this.text = text;
    this.box.value = text;
    this.change({sample, beginning: sample === 1 ? '我' : this.state.beginning});
    this.restart();
  }
  restart() {
    this.stop();
    this.isBegun = false;
    this.problem = this.written = this.sizes = undefined;
    this.training = {step: 0, bits: [], unseen: [], written: []};
    this.ask();
  }
  async begun() {
    this.worker ??= new HeedWorker();
    if (this.isBegun) return this.worker;
    const request = [this.state.seed, ...textNumbers(this.text)];
    const [characters, different, parameters] = await this.worker.call('model_begin', request);
    Object.assign(this, {isBegun: true, sizes: {characters, different, parameters}});
    return this.worker;
  }
  // An error ends the instance of the Worker, and with it the model.
  lose(error) {
    const {worker} = this;
    this.worker = undefined;
    worker?.end(error);
    this.restart();
    this.problem = error.message;
  }

  async learn() {
    this.running = true;
    this.problem = undefined;
    const run = this.run = {};  // a restart gives up this run
    const isWanted = () => this.running && this.run === run;
    this.ask();
    try {
      const worker = await this.begun(), {training} = this, end = training.step + (still.matches ? 50 : modelSteps);
      while (isWanted() && training.step < end) {
        if (sampleSteps.includes(training.step) && training.written.at(-1)?.step !== training.step)
          await this.sampleOf(worker, training);
        const [step, unseen, ...bits] = await worker.call('model_learn', [training.step, 10]);
        training.unseen.push([step - 10, unseen]);
        training.bits.push([step - 5, bits.reduce((sum, one) => sum + one / bits.length, 0)]);
        training.step = step;
        this.ask();
      }
      if (isWanted() && sampleSteps.includes(training.step)) await this.sampleOf(worker, training);
    } catch (error) {
      this.lose(error);
    }
    if (this.run === run) this.stop();
  }
  async sampleOf(worker, training) {
    const {step} = training, how = {count: 80, seed: step + 1, temperature: 0.7};
    const {characters} = await this.continuation(worker, how);
    training.written.push({step, text: characters.join('')});
  }
  stop() {
    this.running = false;
    this.ask();
  }
  async continuation(worker, {count, seed, temperature}) {
    const request = [seed, temperature, count, ...textNumbers(this.state.beginning)];
    const read = new NumberReader(await worker.call('model_write', request));
    const characters = read.list(() => read.text());
    const weights = range(count).map(() => [...read.many(read.one())]);
    return {characters, weights, first: characters.length - count, temperature};
  }
  // Writes for the reader; each time another text, by another seed.
  async write() {
    this.problem = undefined;
    try {
      const worker = await this.begun(), {temperature, seed} = this.state, before = this.written;
      this.written = await this.continuation(worker, {count: 120, seed, temperature});
      const same = before?.characters.join('') === this.written.characters.join('');
      if (temperature === 0 && before?.temperature === 0 && same && this.training.step >= 50) this.reach('cold');
      this.change({seed: seed % 1000 + 1, at: Math.min(20, this.written.weights.length - 1)});
    } catch (error) {
      this.lose(error);
    }
  }
  // The name of a character that was written.
  nameAt(at) {
    const {written} = this;
    return written ? visible(written.characters[written.first + at] ?? '') : '';
  }

  see() {
    const {sample, temperature, beginning, at} = this.state, {written, training} = this;
    this.sample.show(sample);
    this.temperature.show(temperature);
    if (document.activeElement !== this.beginning) this.beginning.value = beginning;
    this.learnButton.textContent = this.word(this.running ? 'stop' : training.step ? 'on' : 'learn');
    this.place.node.hidden = !written;
    this.place.input.max = written ? written.weights.length - 1 : 1;
    this.place.show(at);
    this.drawCurve();
    this.showSamples();
    this.showWritten();
    this.judge();
    this.tell();
  }
  tell() {
    const {training: {step, bits, unseen}, sizes} = this;
    this.told.textContent = sizes ? this.word('sizes', sizes) : '';
    const last = list => fixed(list.at(-1)[1]);
    if (bits.length) this.line.say(this.word('now', {step, bits: last(bits), unseen: last(unseen)}));
    else if (this.running) this.line.say(this.word('beginning.now'));
  }
  drawCurve() {
    const {plot, training: {step, bits, unseen}, sizes} = this, chance = sizes ? Math.log2(sizes.different) : 5;
    plot.begin([0, Math.max(modelSteps, step)], [0, Math.ceil(chance + 0.5)]);
    plot.axes(this.word('axis.step'), this.word('axis.bits'));
    if (!bits.length) return;
    const y = plot.py(chance), part = (list, which) => list.map(point => point[which]);
    const draw = (list, name) => plot.curve(part(list, 0), part(list, 1), name);
    plot.draw(svg('line', {class: 'query-line', x1: plot.margin.left, x2: plot.right, y1: y, y2: y}),
              label(plot.right, y - 5, this.word('chance', {bits: fixed(chance)}), {'text-anchor': 'end'}));
    draw(bits, 'series0');
    draw(unseen, 'series1');
    const ends = [['learned', bits.at(-1)], ['unseen', unseen.at(-1)]].sort(([, [, a]], [, [, b]]) => a - b);
    ends.forEach(([name, [x, one]], i) =>
        plot.draw(label(clamp(plot.px(x), 90, plot.right), plot.py(one) + (i ? -8 : 16),
                        `${this.word(name)} ${fixed(one)}`, {'text-anchor': 'end', class: 'strong'})));
  }
  showSamples() {
    const items = this.training.written.map(({step, text}) => html('li', {},
        html('span', {class: 'soft'}, this.word('sample.step', {step})), html('q', {lang: ''}, visible(text))));
    this.list.replaceChildren(...items.length ? items : [html('li', {class: 'soft'}, this.word('unlearned'))]);
  }
  // The text that was written for the reader, and what one of its characters was made from.
  showWritten() {
    const {written, state: {at}} = this;
    this.row.parentElement.parentElement.hidden = !written;
    if (!written) return this.result.replaceChildren();
    const chosen = written.first + at, {characters} = written;
    const part = (from, to) => visible(characters.slice(from, to).join(''));
    this.result.replaceChildren(html('span', {class: 'soft'}, part(0, written.first)), part(written.first, chosen),
                                html('mark', {}, part(chosen, chosen + 1)), part(chosen + 1));
    this.drawAttention(characters.slice(0, chosen), written.weights[at] ?? []);
  }
  // The characters that the model saw, darker with more weight; the weights of the largest as numbers.
  drawAttention(before, weights) {
    const seen = before.slice(before.length - weights.length), rows = Math.ceil(seen.length / cellsInRow) || 1;
    const width = sized(this.row, rows * 40 + 2, this.word('attention')), side = Math.min((width - 2) / cellsInRow, 44);
    const largest = [...weights].sort((a, b) => b - a).slice(0, 6).at(-1), most = Math.max(...weights);
    const cell = i => {
      const x = 1 + i % cellsInRow * side, y = 1 + Math.floor(i / cellsInRow) * 40, part = weights[i] / most;
      const line = (down, text, kind) => svg('text', {class: `in-cell ${kind}`, x: x + side / 2, y: y + down,
          'text-anchor': 'middle', style: `fill: ${heatInk(part)}`}, text);
      return [svg('rect', {class: 'cell', x, y, width: side, height: 38, style: `fill: ${heatColor(part)}`}),
              line(16, visible(seen[i]), ''),
              ...weights[i] >= largest ? [line(32, fixed(weights[i]).replace(/^0/, ''), 'tiny')] : []];
    };
    this.row.replaceChildren(...range(seen.length).flatMap(cell));
  }

  judge() {
    const {step, bits, unseen} = this.training;
    const last = list => list.slice(-3).reduce((sum, [, one]) => sum + one / 3, 0);
    if (step >= 100) this.answered();
    if (bits.length < 3) return;
    if (last(unseen) < 2) this.reach('bits');
    if (step >= 100 && last(unseen) - last(bits) > 0.4) this.reach('heart');
  }
  tables() {
    const {training: {bits, unseen, written: samples}, written, state: {at}} = this;
    const chosen = written ? written.first + at : 0, weights = written?.weights[at] ?? [];
    return [
      [this.word('curve'), [this.word('axis.step'), this.word('learned'), this.word('unseen')],
       bits.map(([x, one], i) => [x + 5, fixed(one, 3), fixed(unseen[i][1], 3)])],
      [this.word('samples'), [this.word('axis.step'), this.word('text')],
       samples.map(({step, text}) => [step, visible(text)])],
      [this.word('attention'), [this.word('character'), this.word('weight')],
       weights.map((weight, i) => [visible(written.characters[chosen - weights.length + i]), fixed(weight, 3)])]];
  }
  program() { return modelProgram(this); }
});

// A text of which line breaks and spaces are seen.
const visible = text => text.replaceAll('\n', '↵').replaceAll(/^ $/g, '␣');
