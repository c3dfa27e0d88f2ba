// Bench 2: score, normalizer and width. A plane in which each pixel has the color of the key that a query there
// chooses. Requests and answers are those of plane.h. Beyond the two coordinates of the plane, query and keys have
// d - 2 further ones.

const planeScores = ['dot', 'scaled', 'additive', 'bilinear', 'gaussian'];
const planeNormalizers = ['softmax', 'sparsemax', 'entmax', 'hard'];
const keyColors = ['#006aa6', '#b34700', '#007a57', '#a5457a', '#806500'];
const columnEnd = 2.5;  // of the columns of W

// The situation in which the native program begins, and how its plane is cut into pixels: numbers of 32 bits, rounded.
const [planeState, planeEnd, planePixels] = (() => {
  const read = new NumberReader(firstRequest('plane').map(value => +value.toFixed(3)));
  const [score, normalizer, width, n] = read.many(4);
  const query = read.many(2), keys = read.many(2 * n), columns = read.many(4), [, end, pixels] = read.many(3);
  return [{score, normalizer, width, query, columns, keys}, end, pixels];
})();

bench('plane', class extends Bench {
  static functions = ['plane', 'plane_darts', 'plane_learn'];
  static defaults = planeState;
  static question = {answers: ['flat', 'one', 'same'], right: 'one'};
  static goals = ['root', 'even', 'zero', 'long', 'turned'];
  static concepts = ['2_scaled_dot_product#C-001-10', '3_scores_and_self_attention#C-002-03',
                     '3_scores_and_self_attention#C-003-12'];

  keyAt(i) { return this.state.keys.slice(2 * i, 2 * i + 2); }
  get count() { return this.state.keys.length / 2; }
  compute() {
    const {score, normalizer, width, query, keys, columns} = this.state, n = this.count;
    const situation = [score, normalizer, width, n, ...query, ...keys, ...columns];
    const read = new NumberReader(heed.call('plane', [...situation, -planeEnd, planeEnd, planePixels]));
    return {scores: read.many(n), weights: read.many(n), jacobian: read.many(n * n), entropy: read.one(),
            pixels: read.many(2 * planePixels ** 2)};
  }

  setup(stage) {
    this.plot = new Plot(this.word('plot'), 360);
    this.canvas = html('canvas', {width: planePixels, height: planePixels, 'aria-hidden': true});
    this.bars = svg('svg', {class: 'plot', role: 'img'});
    this.slopes = svg('svg', {class: 'plot', role: 'img'});
    this.turns = new Plot(this.word('columns'), 190);
    const figure = (name, node, attributes = {}) =>
        html('figure', {}, html('figcaption', {}, this.word(name)), html('div', attributes, node));
    this.turnsFigure = figure('columns', this.turns.svg, {class: 'small'});
    const plane = figure('plot', this.plot.svg, {class: 'over'});
    plane.lastChild.prepend(this.canvas);
    stage.append(html('div', {class: 'pictures two'}, plane, html('div', {}, figure('bars', this.bars),
                                                                  figure('slopes', this.slopes), this.turnsFigure)),
                 this.controls());
    this.keyHandles = range(this.count).map(i => this.keyHandle(i));
    this.queryHandle = this.planeHandle(this.plot, 'query', svg('path', {d: 'M0,-11L11,0L0,11L-11,0Z'}), {
      at: () => this.state.query, label: () => this.word('query'), most: planeEnd, first: true,
      set: (x, y) => this.change({query: [x, y]})});
    this.turnHandles = range(2).map(c => this.columnHandle(c));
  }
  // A colored disc with a letter.
  disc(letter, color) {
    const disc = svg('rect', {class: 'disc', x: -11, y: -11, width: 22, height: 22, rx: 11, style: `fill: ${color}`});
    return svg('g', {}, disc, label(0, 4, letter, {'text-anchor': 'middle', class: 'on-key'}));
  }
  keyHandle(i) {
    return this.planeHandle(this.plot, 'key', this.disc(i + 1, keyColors[i]), {
      at: () => this.keyAt(i), label: () => this.word('key', {i: i + 1}), most: planeEnd,
      weight: () => this.word('key.text', {weight: fixed(this.now.weights[i], 3)}),
      set: (x, y) => this.moveKey(i, x, y)});
  }
  columnHandle(c) {
    return this.planeHandle(this.turns, 'turn', this.disc('ab'[c], '#3d4654'), {
      at: () => [this.state.columns[c], this.state.columns[2 + c]], label: () => this.word('column', {c: c + 1}),
      most: columnEnd,
      set: (x, y) => {
        const columns = [...this.state.columns];
        [columns[c], columns[2 + c]] = [x, y];
        this.change({columns});
      }});
  }
  // A handle that moves freely in a plane.
  planeHandle(plot, name, shape, {at, set, most, label: spoken, weight = () => '', first}) {
    const move = (x, y) => set(+clamp(x, -most, most).toFixed(3), +clamp(y, -most, most).toFixed(3));
    return new Handle(plot, shape, {
      name, at, move, first, label: spoken, value: () => at()[0], step: () => [0.05, 0.05],
      text: () => `(${at().map(value => fixed(value)).join(', ')}) ${weight()}`,
      home: end => move(...(end ? [0, 0] : at().map(value => value / (Math.hypot(...at()) || 1))))});
  }
  moveKey(i, x, y) {
    const keys = [...this.state.keys];
    keys.splice(2 * i, 2, x, y);
    this.change({keys});
  }
  controls() {
    const oneOf = (key, names) => choice({
      name: this.word(key), value: this.state[key], options: names.map((name, i) => [i, this.word(`${key}.${name}`)]),
      change: one => { this.stop(); this.change({[key]: one}); }});
    this.score = oneOf('score', planeScores);
    this.normalizer = oneOf('normalizer', planeNormalizers);
    this.widthSlider = slider({name: this.word('width'), min: 1, max: 9, step: 1, value: 1,
                               text: place => `d = ${2 ** place}`, change: place => this.change({width: 2 ** place})});
    this.darts = button(this.word('throw'), () => this.throwDarts());
    this.learn = button(this.word('learn'), () => this.toggleLearning(), {class: 'main'});
    this.learned = html('output', {'aria-live': 'off'});
    return html('div', {class: 'controls'},
                html('div', {class: 'reach'}, this.widthSlider.node, button(this.word('reset'), () => this.reset())),
                this.score.node, this.normalizer.node,
                html('div', {class: 'row'}, this.darts, this.learn, this.learned));
  }

  // Darts: hard attention draws one key at a time; the shares approach the weights.
  throwDarts() {
    this.drawn ??= new Float32Array(this.count);
    this.thrown = (this.thrown ?? 0) + 1;
    const counts = heed.call('plane_darts', [this.thrown, 100, this.count, ...this.now.weights]);
    this.drawn = this.drawn.map((count, i) => count + counts[i]);
    this.ask();
  }
  // Learns W of the bilinear score from answers alone: keys are points, queries the same points rotated.
  toggleLearning() {
    if (this.descent?.running) return this.stop();
    this.change({score: 3});
    this.learn.textContent = this.word('stop');
    this.lesson ??= {calls: 0, right: 0};
    const end = this.lesson.calls + 120;
    this.descent = animate(() => {
      range(still.matches ? 30 : 1).forEach(() => this.learnOnce());
      if (this.lesson.calls >= end || still.matches) this.stop();
      return this.lesson.calls < end;
    });
  }
  // Five steps. `right` is the share of queries that find their key, a mean over the last calls.
  learnOnce() {
    const {lesson} = this, request = [++lesson.calls, 0.05, 5, ...this.state.columns];
    const [a, b, c, d, loss, right] = heed.call('plane_learn', request);
    lesson.right = 0.9 * lesson.right + 0.1 * right;
    this.change({columns: [a, b, c, d].map(value => +value.toFixed(4))});
    const told = {steps: 5 * lesson.calls, loss: fixed(loss, 3), right: fixed(100 * right, 0)};
    this.learned.textContent = this.word('learned', told);
    if (lesson.right > 0.9) this.reach('turned');
  }
  stop() {
    this.descent?.stop();
    if (this.learn) this.learn.textContent = this.word('learn');
  }

  reset() {
    this.stop();
    this.lesson = undefined;
    this.learned.textContent = '';
    this.change({...this.kind.defaults});
  }

  see() {
    const {score, normalizer, width, query, keys, columns} = this.state;
    this.now = this.compute();
    const situation = [score, normalizer, width, query, keys, columns].join();
    if (situation !== this.situation) this.drawn = undefined;
    this.situation = situation;
    this.score.show(score);
    this.normalizer.show(normalizer);
    this.widthSlider.show(Math.round(Math.log2(width)));
    this.learn.textContent = this.word(this.descent?.running ? 'stop' : 'learn');
    this.darts.hidden = normalizer !== 3;
    this.turnsFigure.hidden = score !== 3 && score !== 2;
    this.drawPlane();
    this.drawBars();
    this.drawJacobian();
    if (!this.turnsFigure.hidden) this.drawTurns();
    this.judge();
    const weights = [...this.now.weights].map(value => fixed(value)).join(', ');
    this.line.say(this.word('now', {weights, entropy: fixed(this.now.entropy)}));
  }
  // The plane is square: its plot has the same unit in both directions.
  drawPlane() {
    const {plot, now: {pixels}} = this, frame = plot.svg.parentElement, side = clamp(frame.clientWidth, 200, 540);
    plot.height = side;
    frame.style.maxWidth = side + 'px';
    plot.margin = {left: 0, right: 0, top: 0, bottom: 0};
    plot.begin([-planeEnd, planeEnd], [-planeEnd, planeEnd]);
    this.paint(pixels);
    plot.draw(svg('line', {class: 'grid', x1: 0, x2: side, y1: side / 2, y2: side / 2}),
              svg('line', {class: 'grid', x1: side / 2, x2: side / 2, y1: 0, y2: side}), this.regionNumbers(pixels));
    const [x, y] = this.state.query;
    plot.draw(range(this.count).filter(i => this.now.weights[i] > 0.005).map(i => {
      const [kx, ky] = this.keyAt(i);
      return svg('line', {class: 'tie', x1: plot.px(x), y1: plot.py(y), x2: plot.px(kx), y2: plot.py(ky),
                          'stroke-width': 1 + 8 * this.now.weights[i]});
    }));
    for (const handle of [...this.keyHandles, this.queryHandle]) handle.update();
  }
  paint(pixels) {
    const context = this.canvas.getContext('2d'), image = context.createImageData(planePixels, planePixels);
    const channels = keyColors.map(color => [1, 3, 5].map(i => parseInt(color.slice(i, i + 2), 16)));
    for (let i = 0; i < planePixels ** 2; ++i) {
      const color = channels[pixels[2 * i]] ?? [128, 128, 128];
      image.data.set([...color, 30 + 150 * pixels[2 * i + 1]], 4 * i);
    }
    context.putImageData(image, 0, 0);
  }
  // The number of a key in the part of the plane that chooses it, if the key itself is elsewhere.
  regionNumbers(pixels) {
    const parts = range(this.count).map(() => []);
    for (let i = 0; i < planePixels ** 2; ++i)
      parts[pixels[2 * i]]?.push([i % planePixels, Math.floor(i / planePixels)]);
    this.shares = parts.map(part => part.length / planePixels ** 2);
    const pixelAt = place => Math.min(Math.floor((place / planeEnd + 1) / 2 * planePixels), planePixels - 1);
    const chosen = ([x, y]) => pixels[2 * (pixelAt(-y) * planePixels + pixelAt(x))];
    if (this.state.normalizer === 3) return [];  // choices that are drawn have no parts
    return parts.map((part, k) => part.length > 40 && chosen(this.keyAt(k)) !== k && this.regionNumber(part, k));
  }
  // At the pixel nearest to the middle, since a part may be in pieces; not under a key, nor at the edge.
  regionNumber(part, k) {
    const {plot} = this, size = plot.width / planePixels;
    const middle = [0, 1].map(c => part.reduce((sum, pixel) => sum + pixel[c], 0) / part.length);
    const far = ([x, y]) => Math.hypot(x - middle[0], y - middle[1]);
    const [left, top] = part.reduce((best, pixel) => far(pixel) < far(best) ? pixel : best)
        .map(place => clamp((place + 0.5) * size, 18, plot.width - 18));
    const covers = ([x, y]) => Math.hypot(plot.px(x) - left, plot.py(y) - top) < 28;
    const aside = range(this.count).some(i => covers(this.keyAt(i))) ? (top > plot.width / 2 ? -28 : 28) : 0;
    return label(left, top + 4 + aside, `→ ${k + 1}`, {'text-anchor': 'middle', class: 'strong'});
  }
  // A bar a key: its weight, and with darts the share of the draws, hatched.
  drawBars() {
    const {weights, scores, entropy} = this.now, n = this.count, high = 26;
    const total = this.drawn?.reduce((sum, count) => sum + count, 0);
    const width = sized(this.bars, n * high + 24, this.word('bars')), room = width - 150;
    const bar = i => {
      const y = i * high + 2, share = total ? this.drawn[i] / total : 0;
      const number = fixed(weights[i], 3) + (total ? ` (${fixed(share, 2)})` : ` ← ${fixed(scores[i], 1)}`);
      const long = Math.max(room * weights[i], 1);
      return [svg('rect', {x: 26, y, width: long, height: 18, style: `fill: ${keyColors[i]}`}),
              ...total ? [svg('rect', {class: 'darts', x: 26, y: y + 4, width: room * share, height: 10})] : [],
              label(4, y + 14, i + 1, {class: 'strong'}),
              label(32 + room * Math.max(weights[i], share), y + 14, number)];
    };
    const below = this.word('entropy', {h: fixed(entropy, 3)}) + (total ? ', ' + this.word('drawn', {n: total}) : '');
    this.bars.replaceChildren(...range(n).flatMap(bar), label(4, n * high + 18, below));
  }
  jacobianRows() {
    const {jacobian} = this.now, n = this.count;
    return range(n).map(i => [...jacobian.subarray(n * i, n * i + n)]);
  }
  drawJacobian() {
    const rows = this.jacobianRows(), n = rows.length, norm = Math.hypot(...this.now.jacobian);
    const width = sized(this.slopes, n * 24 + 24, this.word('slopes')), cell = Math.min((width - 10) / n, 62);
    const text = norm < 1e-3 && norm > 0 ? norm.toExponential(1) : fixed(norm, 3);
    this.slopes.replaceChildren(
        ...heatCells(rows, {x: 4, y: 2, cell: [cell, 24], most: 0.25, text: value => fixed(value, 3)}),
        label(4, n * 24 + 20, this.word('norm', {norm: text})));
  }
  drawTurns() {
    const {turns, state: {columns}} = this;
    turns.margin = {left: 0, right: 0, top: 0, bottom: 0};
    turns.begin([-columnEnd, columnEnd], [-columnEnd, columnEnd]);
    const middle = [turns.px(0), turns.py(0)];
    turns.draw(svg('circle', {class: 'grid', fill: 'none', cx: middle[0], cy: middle[1], r: turns.py(0) - turns.py(1)}),
               range(2).map(c => arrow(...middle, turns.px(columns[c]), turns.py(columns[2 + c]))));
    for (const handle of this.turnHandles) handle.update();
  }

  judge() {
    const {score, normalizer, width} = this.state, {weights} = this.now;
    if (Math.max(...weights) - Math.min(...weights) < 0.02) this.reach('even');
    if ((normalizer === 1 || normalizer === 2) && [...weights].some(value => value === 0)) this.reach('zero');
    if (score < 2 && width === 2 && Math.max(...this.shares) > 0.4) this.reach('long');
    if (width >= 256 && score < 2 && normalizer === 0) (this.compared ??= new Set()).add(score);
    if (this.compared?.size === 2) {
      this.answered();
      this.reach('root');
    }
  }
  tables() {
    const {scores, weights} = this.now, {columns} = this.state, all = range(this.count);
    const [key, ...names] = ['key.name', 'score', 'weight', 'share'].map(name => this.word(name));
    return [
      [this.word('plot'), [key, 'x', 'y', ...names], all.map(i =>
          [i + 1, ...this.keyAt(i).map(value => fixed(value)), fixed(scores[i], 3), fixed(weights[i], 4),
           fixed(100 * this.shares[i], 1)])],
      [this.word('slopes'), ['', ...all.map(i => i + 1)],
       this.jacobianRows().map((row, i) => [i + 1, ...row.map(value => fixed(value, 4))])],
      ['W', ['a', 'b'], [0, 2].map(i => columns.slice(i, i + 2).map(value => fixed(value, 3)))]];
  }
  program() { return planeProgram(this); }
});
