// Bench 6: length. A chain of states against one arc, softmax block by block, and what a length costs in this browser.
//
// The layouts of request and answer are those of length.h:
//   length_work    layer (0 attention, 1 attention in tiles, 2 recurrent), T, d, runs, 1 if memory is measured
//     answer       multiply-adds of one run, most bytes in use, the last output [d]
//   length_decode  T, d, 1 with a cache
//     answer       multiply-adds of all steps, numbers in the cache at the end, the last output [d]
//   length_tiles   tile, n, scores [n], values [n]
//     answer       count of tiles; for each: m, l, o / l; at the end softmax over all keys at once
// The chain of states is a formula of bench 5, h2 = w * h1; h3 = w * h2; ..., so its gradients are those of the tape.

const lengths = [32, 64, 128, 256];
// What is measured: the function, and its request for a length.
const works = {
  recurrent: T => ['length_work', [2, T, 32, 3, 1]],
  attention: T => ['length_work', [0, T, 32, 3, 1]],
  tiles: T => ['length_work', [1, T, 32, 3, 1]],
  uncached: T => ['length_decode', [T, 32, 0]],
  cached: T => ['length_decode', [T, 32, 1]],
};
// A number that may be very small or very large.
const powers = value => value < 0.01 || value > 99 ? value.toExponential(1).replace('-', '−') : fixed(value, 3);
const comparisons = [['recurrent', 'attention', 'tiles'], ['uncached', 'cached']];
// As which power of T its memory grows; the time grows as the multiplications that heed counts.
const memoryPower = {recurrent: 1, attention: 2, tiles: 1, uncached: 0, cached: 1};

bench('length', class extends Bench {
  static functions = ['tape', 'length_work', 'length_decode', 'length_tiles'];
  static defaults = {T: 24, factor: 0.9, block: 2, at: 0, cache: 0, cost: 'ms', scores: [1, 2, 0.5, 3, 2.5, -1, 3.5, 0],
                     values: [2, 5, 1, 4, 3, 6, 2, 1]};
  static question = {answers: ['fades', 'same', 'grows'], right: 'fades'};
  static goals = ['carry', 'rescale', 'square', 'double'];
  static concepts = ['3_scores_and_self_attention#C-002-13', '3_scores_and_self_attention#C-003-20',
                     '3_scores_and_self_attention#C-003-19'];

  compute() {
    const {block, scores, values} = this.state, n = scores.length;
    const tiles = heed.call('length_tiles', [block, n, ...scores, ...values]);
    return {...this.paths(), steps: tiles[0], tiles: tiles.subarray(1)};
  }
  // The gradient of the last state with respect to each state of the chain; and, for attention, that of the output with
  // respect to the first value, which is its weight.
  paths() {
    const {T, factor} = this.state, key = [T, factor].join();
    if (key === this.known?.key) return this.known;
    const states = range(T - 1).map(t => `h${t + 2} = w * h${t + 1}`);
    const formula = [`w = ${factor}`, 'h1 = 1', ...states].join(';'), chain = new Float32Array(T);
    const read = new NumberReader(heed.call('tape', [...textNumbers(formula), 0]));
    read.list(() => {
      const name = read.text();
      read.text();
      read.text();
      read.values();
      const gradient = read.values().values[0];
      if (name.startsWith('h')) chain[name.slice(1) - 1] = gradient;
      read.list(() => read.one());
    });
    const arc = heed.call('length_tiles', [T, T, ...Array(T).fill(0), 1, ...Array(T - 1).fill(0)]).at(-1);
    return this.known = {key, chain, arc};
  }

  setup(stage) {
    this.path = svg('svg', {class: 'plot', role: 'img'});
    this.tilesPicture = svg('svg', {class: 'plot', role: 'img'});
    this.costs = new Plot(this.word('costs'), 260);
    this.lengthSlider = this.numberSlider('T', {min: 2, max: 64, step: 1, text: String});
    this.factorSlider = this.numberSlider('factor', {min: 0.5, max: 1.2, step: 0.01, text: value => fixed(value)});
    this.atSlider = this.numberSlider('at', {min: 0, max: 8, step: 1, text: String});
    this.block = choice({name: this.word('block'), value: this.state.block,
                         options: [1, 2, 4].map(size => [size, String(size)]),
                         change: block => this.change({block, at: 0})});
    this.cache = choice({name: this.word('cache'), value: this.state.cache, change: cache => this.change({cache}),
                         options: [[0, this.word('cache.layers')], [1, this.word('cache.decoding')]]});
    this.cost = choice({name: this.word('cost'), value: this.state.cost, change: cost => this.change({cost}),
                        options: ['ms', 'memory'].map(cost => [cost, this.word('cost.' + cost)])});
    this.told = html('p');  // the line says it
    const figure = (name, node, ...more) =>
        html('figure', {}, html('figcaption', {}, this.word(name)), html('div', {}, node), ...more);
    const next = () => this.change({at: (this.state.at + 1) % (this.now.steps + 1)});
    stage.append(
        figure('path', this.path, html('div', {class: 'controls'}, this.lengthSlider.node, this.factorSlider.node)),
        figure('tiles', this.tilesPicture, html('div', {class: 'controls'},
            html('div', {class: 'reach'}, this.atSlider.node, button(this.word('on'), next, {class: 'main'})),
            this.block.node)),
        figure('costs', this.costs.svg, html('div', {class: 'controls'}, this.cache.node, this.cost.node),
               html('div', {class: 'row'}, button(this.word('measure'), () => this.measure(), {class: 'main'})),
               this.told));
  }
  numberSlider(key, options) {
    const change = value => this.change({[key]: value});
    return slider({name: this.word(key), value: this.state[key], change, ...options});
  }

  // Times each layer for each length, one a frame, so that the page stays alive.
  measure() {
    const jobs = comparisons[this.state.cache].flatMap(kind => lengths.map(T => [kind, T]));
    this.measured ??= {};
    this.told.textContent = '';
    const next = () => {
      const job = jobs.shift();
      if (!job) return this.endMeasuring();
      const [kind, T] = job, [name, request] = works[kind](T), runs = name === 'length_work' ? request[3] : 1;
      let best = Infinity, answer;
      for (let round = 0; round < 3; ++round) {
        const begin = performance.now();
        answer = heed.call(name, request);
        best = Math.min(best, (performance.now() - begin) / runs);
      }
      (this.measured[kind] ??= {})[T] = {ms: best, work: answer[0], memory: answer[1]};
      this.progress = this.word('measuring', {kind: this.word('kind.' + kind), T});
      this.ask();
      requestAnimationFrame(next);
    };
    next();
  }

  endMeasuring() {
    this.progress = this.told.textContent = this.word('measured');
    this.ask();
    requestAnimationFrame(() => { this.progress = undefined; });
  }

  see() {
    this.now = this.compute();
    const {T, factor, block, cache, cost} = this.state;
    this.lengthSlider.show(T);
    this.factorSlider.show(factor);
    this.atSlider.input.max = this.now.steps;
    this.state.at = Math.min(this.state.at, this.now.steps);
    this.atSlider.show(this.state.at);
    this.block.show(block);
    this.cache.show(cache);
    this.cost.show(cost);
    this.drawPath();
    this.drawTiles();
    this.drawCosts();
    this.judge();
    const paths = this.word('now', {T, chain: powers(this.now.chain[0]), arc: fixed(this.now.arc, 3)});
    this.line.say(this.progress ?? paths);
  }
  // T states in a chain, each as dark as the gradient that is left; above them one arc from the last to the first.
  drawPath() {
    const {chain, arc} = this.now, {T} = this.state, y = 122, width = sized(this.path, 190, this.word('path'));
    const step = (width - 60) / Math.max(T - 1, 1), x = t => 30 + t * step, r = clamp(step / 3, 2, 12);
    const left = x(0), right = x(T - 1), middle = (left + right) / 2;
    this.path.replaceChildren(
        svg('path', {class: 'curve', d: `M${right},${y - r}Q${middle},${-y + 70} ${left},${y - r}`}),
        label(middle, 22, this.word('arc', {g: fixed(arc, 3)}), {'text-anchor': 'middle', class: 'strong'}),
        svg('line', {class: 'grid', x1: left, x2: right, y1: y, y2: y}),
        ...range(T).map(t =>
            svg('circle', {class: 'state', cx: x(t), cy: y, r, style: `fill: ${heatColor(chain[t])}`})),
        label(left, y + 30, this.word('first'), {'text-anchor': 'start'}),
        label(right, y + 30, this.word('last'), {'text-anchor': 'end'}),
        label(middle, y + 54, this.word('chain', {g: powers(chain[0])}),
              {'text-anchor': 'middle', class: 'strong'}));
  }
  // Keys come block by block; what is kept is m, l and o.
  drawTiles() {
    const {tiles, steps} = this.now, {block, at, scores, values} = this.state, n = scores.length;
    const width = sized(this.tilesPicture, 150, this.word('tiles')), left = 74, cell = Math.min((width - 80) / n, 64);
    const row = (list, y, name) => [label(4, y + 18, name), ...list.map((value, i) => {
      const seen = i < at * block, now = seen && i >= (at - 1) * block;
      const name = `tile ${now ? 'now' : seen ? 'seen' : ''}`;
      return [svg('rect', {class: name, x: left + i * cell, y, width: cell, height: 26}),
              label(left + (i + 0.5) * cell, y + 18, fixed(value, 1), {'text-anchor': 'middle'})];
    }).flat()];
    const [m, l, mean] = at ? tiles.subarray(3 * at - 3, 3 * at) : [-Infinity, 0, 0];
    const before = at > 1 ? tiles[3 * at - 6] : m, factor = Math.exp(before - m);
    const kept = at ? `m = ${fixed(m, 1)}   l = ${fixed(l, 3)}   o = ${fixed(mean * l, 3)}`
        : 'm = −∞   l = 0   o = 0';
    this.tilesPicture.replaceChildren(...row(scores, 4, this.word('scores')), ...row(values, 34, this.word('values')),
        label(4, 88, kept, {class: 'strong'}),
        label(4, 112, at > 1 ? this.word('scaled', {factor: fixed(factor, 3)}) : ''),
        label(4, 136, at === steps ? this.word('equal', {a: fixed(mean, 4), b: fixed(tiles[3 * steps], 4)}) : '',
              {class: 'strong'}));
    if (at > 1 && factor < 1) this.reach('rescale');
  }
  // What was measured for a layer, and what the theory says: the same at the longest length, and its power of T.
  costsOf(kind) {
    const isTime = this.state.cost === 'ms', lines = this.measured[kind];
    const points = lengths.filter(T => lines[T]), last = lines[points.at(-1)];
    const measured = points.map(T => isTime ? lines[T].ms : lines[T].memory / 1000), top = measured.at(-1);
    const share = T => isTime ? lines[T].work / last.work : (T / points.at(-1)) ** memoryPower[kind];
    const theory = points.map(T => top * share(T));
    const power = list => list.length > 1 && list.at(-1) > 0 ? Math.log2(list.at(-1) / list.at(-2)) : undefined;
    return {points, measured, theory, power: power(measured), expected: power(theory)};
  }
  // The cost over the length. Dotted lines are the theory, through the longest measurement.
  drawCosts() {
    const {costs, state: {cache, cost}} = this, shown = comparisons[cache].filter(kind => this.measured?.[kind]);
    const all = shown.map(kind => [kind, this.costsOf(kind)]);
    costs.margin.left = 44;
    costs.begin([lengths[0], lengths.at(-1)], [0, Math.max(0.1, ...all.flatMap(([, {measured}]) => measured)) * 1.1]);
    costs.axes(this.word('axis.length'), this.word('axis.' + cost), lengths);
    all.forEach(([, {points, measured, theory}], i) => {
      costs.curve(points, measured, 'series' + i);
      costs.curve(points, theory, 'theory');
    });
    this.nameCosts(all);
    if (!shown.length)
      costs.draw(label(costs.width / 2, costs.height / 2, this.word('unmeasured'), {'text-anchor': 'middle'}));
  }
  // Names and powers above the ends of the curves, and above each other.
  nameCosts(all) {
    const {costs} = this;
    let free = costs.bottom - 6;
    const upwards = all.toSorted(([, a], [, b]) => a.measured.at(-1) - b.measured.at(-1));
    for (const [kind, {measured, power, expected}] of upwards) {
      const y = Math.min(costs.py(measured.at(-1)) - 6, free);
      const powers = {power: fixed(power, 1), expected: fixed(expected, 1)};
      const grows = power === undefined ? '' : this.word('power', powers);
      costs.draw(label(costs.right, y, this.word('kind.' + kind) + grows, {'text-anchor': 'end', class: 'strong'}));
      free = y - 16;
    }
  }

  judge() {
    const {T, factor, cost} = this.state, {chain} = this.now;
    const isMeasured = kind => this.measured?.[kind]?.[lengths.at(-1)];
    if (T >= 48 && factor !== 1 && chain[0] > 0.2 && chain[0] < 5) this.reach('carry');
    if (isMeasured('cached') && isMeasured('uncached')) this.reach('double');
    if (cost === 'memory' && isMeasured('attention') && isMeasured('tiles')) this.reach('square');
    if (T >= 48) this.answered();
  }
  tables() {
    const {chain, arc, tiles, steps} = this.now;
    const row = (kind, [T, {ms, work, memory}]) => [this.word('kind.' + kind), T, fixed(ms, 2), work, memory];
    const rows = Object.entries(this.measured ?? {})
        .flatMap(([kind, lines]) => Object.entries(lines).map(line => row(kind, line)));
    return [
      [this.word('path'), ['t', this.word('kind.recurrent'), this.word('kind.attention')],
       [...chain].map((g, t) => [t + 1, powers(g), fixed(arc, 3)])],
      [this.word('tiles'), [this.word('at'), 'm', 'l', 'o / l'], range(steps).map(i =>
          [i + 1, ...[...tiles.subarray(3 * i, 3 * i + 3)].map(value => fixed(value, 4))])],
      [this.word('costs'), [this.word('layer'), 'T', 'ms', this.word('work'), this.word('memory')], rows]];
  }
  program() { return lengthProgram(this); }
});
