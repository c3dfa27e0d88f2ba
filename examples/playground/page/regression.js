// Bench 1: kernel regression is attention. Points to move, a query, and the weights that join them.
//
// The layouts of request and answer are those of regression.h:
//   regression        w, kernel, own, query, low, high, count, w_low, w_high, w_count, n, x [n], y [n]
//     answer          f(query), loss, dloss/dw, weights [n], f at `count` places [low, high],
//                     then the loss at `w_count` w of equal ratio [w_low, w_high], own point kept; left out
//   regression_learn  w, kernel, own, learning rate, steps, n, x [n], y [n]
//     answer          w and loss of each step, the start first: 2 (steps + 1) numbers
// own: 1 if each point is among its own keys, 0 if it is left out. kernel: the number of the SmoothingKernel.

const kernels = ['gaussian', 'boxcar', 'epanechnikov', 'triangular', 'constant'];
const kept = value => +value.toPrecision(6);  // a number that the address keeps as it is
const truth = x => 2 * Math.sin(x) + x ** 0.8;

bench('regression', class extends Bench {
  static functions = ['regression', 'regression_learn'];
  static defaults = {w: 1, kernel: 0, own: 0, query: 2.5, noise: 0.5, points: [], made: 1, chosen: 0};
  static question = {answers: ['up', 'sideways', 'both'], right: 'sideways'};
  static goals = ['key', 'mean', 'nearest', 'lower', 'cheat'];
  static concepts = ['1_kernel_regression#C-000-11', '1_kernel_regression#C-000-15', '1_kernel_regression#C-000-16'];

  constructor(element, name) {
    super(element, name);
    this.usualPoints = this.defaultPoints();
    this.points = [];
    const {points} = this.state;
    for (let i = 0; i + 2 < points.length; i += 3) this.points.push({x: points[i], y: points[i + 1], e: points[i + 2]});
    if (!this.points.length) this.points = structuredClone(this.usualPoints);
    this.moved = {up: 0, sideways: 0};
    this.measure();
  }

  get chosen() { return clamp(this.state.chosen, 0, this.points.length - 1); }
  // The points of the native program's request. e is the noise of each in units of the slider, so that it can change.
  defaultPoints() {
    const request = firstRequest('regression'), n = request[10];
    return range(n).map(i => {
      const x = kept(request[11 + i]), y = kept(request[11 + n + i]);
      return {x, y, e: +((y - truth(x)) / 0.5).toFixed(3)};
    });
  }
  // The ends of the axes. They stay while points move.
  measure() {
    const ends = values => [Math.min(...values), Math.max(...values)];
    const [low, high] = ends(this.points.map(p => p.x)), [least, most] = ends(this.points.map(p => p.y));
    const dx = (high - low || 1) * 0.05, dy = (most - least || 1) * 0.15;
    this.ends = this.state.made ? {x: [-0.2, 5.2], y: [-2, 6]} : {x: [low - dx, high + dx], y: [least - dy, most + dy]};
    const mean = this.points.reduce((sum, p) => sum + p.y, 0) / this.points.length;
    const variance = this.points.reduce((sum, p) => sum + (p.y - mean) ** 2, 0) / this.points.length;
    this.wide = 3.5 / (high - low || 1);  // the w of a kernel that is as wide as the data
    const leastW = this.state.made ? 0.1 : 10 ** Math.round(Math.log10(this.wide / 7));
    this.wEnds = [leastW, 1000 * leastW];       // of the axis of w
    this.rate = 0.1 / (variance || 1);   // of gradient descent on log w: the same for data in any unit
    this.lossEnd = variance * 1.35 || 1;
  }
  changePoints() {
    this.change({points: this.points.flatMap(p => [p.x, p.y, p.e])});
  }

  // What heed computes for the present state. The losses at other w change with the points and the kernel only.
  compute() {
    const {w, kernel, own, query} = this.state, n = this.points.length, count = 121;
    const points = [...this.points.map(p => p.x), ...this.points.map(p => p.y)];
    const key = [kernel, ...this.wEnds, ...points].join(), known = key === this.losses?.key, ws = known ? 1 : 61;
    const places = [...this.ends.x, count, ...this.wEnds, ws];
    const answer = heed.call('regression', [w, kernel, own, query, ...places, n, ...points]);
    let at = 3;
    const take = size => answer.subarray(at, at += size);
    const now = {answer: answer[0], loss: answer[1], gradient: answer[2], weights: take(n), curve: take(count)};
    if (!known) this.losses = {key, kept: take(ws), out: take(ws)};
    return {...now, ...this.losses};
  }

  // The queries and the w at which curves are known.
  places(count) {
    const [low, high] = this.ends.x;
    return range(count).map(i => low + (high - low) * i / (count - 1));
  }
  widths(count) {
    const [low, high] = this.wEnds;
    return range(count).map(i => low * (high / low) ** (i / (count - 1)));
  }

  setup(stage) {
    this.plot = new Plot(this.word('plot'), 330);
    this.valley = new Plot(this.word('valley'), 330);
    this.row = svg('svg', {class: 'plot', role: 'img'});
    stage.append(
        html('div', {class: 'pictures two'},
             html('figure', {}, html('figcaption', {}, this.word('plot')), html('div', {}, this.plot.svg),
                  html('div', {}, this.row)),
             html('figure', {}, html('figcaption', {}, this.word('valley')), html('div', {}, this.valley.svg))),
        this.controls(), this.pointControls(), this.ownData());
    this.plot.svg.addEventListener('dblclick', event => {
      const box = this.plot.svg.getBoundingClientRect();
      this.add(...this.plot.at(event.clientX - box.left, event.clientY - box.top));
    });
    this.pointHandles = [];
    this.queryHandle = new Handle(this.plot, svg('path', {d: 'M0,-9L9,0L0,9L-9,0Z'}), {
      name: 'query', first: true, at: () => [this.state.query, this.ends.y[0]], value: () => this.state.query,
      step: () => [(this.ends.x[1] - this.ends.x[0]) / 100, 0], label: () => this.word('query'),
      text: () => this.word('query.text', {q: fixed(this.state.query), f: fixed(this.now.answer)}),
      move: x => this.change({query: clamp(x, ...this.ends.x)}), home: end => this.change({query: this.ends.x[+end]})});
    this.ball = new Handle(this.valley, svg('circle', {r: 8}), {
      name: 'ball', at: () => [this.shownW(), clamp(this.now.loss, 0, this.lossEnd)], value: () => this.state.w,
      step: () => [this.shownW() * 0.02, 0], label: () => 'w',
      text: () => this.word('ball.text', {w: short(this.state.w), loss: fixed(this.now.loss, 3)}),
      move: x => this.setW(clamp(x, ...this.wEnds)), home: end => this.setW(this.wEnds[+end])});
  }
  shownW() { return clamp(this.state.w, ...this.wEnds); }
  setW(w) {
    this.stop();
    this.change({w: +w.toPrecision(4)});
  }

  controls() {
    // The slider counts powers of ten from the left end of the axis; its own left end is w = 0.
    const toW = place => place < 0 ? 0 : +(this.wEnds[0] * 10 ** place).toPrecision(3);
    this.wSlider = slider({name: this.word('w'), min: -0.05, max: 3, step: 0.01, value: 0,
                           text: place => 'w = ' + short(toW(place)), change: place => this.setW(toW(place))});
    this.noiseSlider = slider({name: this.word('noise'), min: 0, max: 2, step: 0.05, value: this.state.noise,
                               text: value => fixed(value), change: value => this.setNoise(value)});
    this.kernel = choice({name: this.word('kernel'), value: this.state.kernel, change: kernel => this.change({kernel}),
                          options: kernels.map((kernel, i) => [i, this.word('kernel.' + kernel)])});
    this.own = choice({name: this.word('own'), value: this.state.own, change: own => this.change({own}),
                       options: [[0, this.word('own.out')], [1, this.word('own.kept')]]});
    this.learn = button(this.word('learn'), () => this.toggleLearning(), {class: 'main'});
    return html('div', {class: 'controls'},
                html('div', {class: 'reach'}, this.wSlider.node, this.learn,
                     button(this.word('reset'), () => this.reset())),
                this.kernel.node, this.own.node, this.noiseSlider.node);
  }
  pointControls() {
    this.pointName = html('output', {'aria-live': 'off'});
    return html('div', {class: 'row', role: 'group', 'aria-label': this.word('points')},
                button(this.word('previous'), () => this.choose(this.chosen - 1)), this.pointName,
                button(this.word('next'), () => this.choose(this.chosen + 1)),
                button(this.word('add'), () => this.add(this.state.query, this.now.answer + this.spanY() / 5)),
                button(this.word('remove'), () => this.removePoint(this.chosen)));
  }
  ownData() {
    const text = html('textarea', {rows: 6, spellcheck: 'false', 'aria-label': this.word('csv'),
                                   placeholder: '0,1\n1.2,3\n3,2'});
    const told = html('p', {role: 'status'});
    const use = () => {
      const lines = text.value.split('\n').filter(line => line.trim());
      const pairs = lines.map(line => line.split(/[,;\s]+/).filter(Boolean).map(Number));
      if (pairs.length && pairs[0].some(Number.isNaN)) pairs.shift();  // names of columns
      const wrong = pairs.findIndex(pair => pair.length < 2 || pair.slice(0, 2).some(value => !Number.isFinite(value)));
      if (wrong >= 0 || pairs.length < 3) {
        told.textContent = this.word(wrong >= 0 ? 'csv.wrong' : 'csv.few', {line: wrong + 1});
        return;
      }
      const points = pairs.slice(0, 300).map(([x, y]) => ({x: kept(x), y: kept(y), e: 0}));
      told.textContent = this.word('csv.used', {n: points.length});
      this.usePoints(points, 0);
    };
    return html('details', {}, html('summary', {}, this.word('csv')), html('p', {}, this.word('csv.how')), text,
                html('div', {class: 'row'}, button(this.word('csv.use'), use)), told);
  }

  spanY() { return this.ends.y[1] - this.ends.y[0]; }
  usePoints(points, made) {
    this.stop();
    this.points = points;
    this.state.made = made;
    this.measure();
    const middle = (this.ends.x[0] + this.ends.x[1]) / 2;
    this.change({made, chosen: 0, ...made ? {query: 2.5, w: 1} : {query: middle, w: +this.wide.toPrecision(3)}});
    this.changePoints();
  }
  reset() {
    this.usePoints(structuredClone(this.usualPoints), 1);
    this.change({...this.kind.defaults});
  }
  setNoise(noise) {
    for (const point of this.points) point.y = kept(point.y + (noise - this.state.noise) * point.e);
    this.change({noise});
    this.changePoints();
  }
  add(x, y) {
    this.points.push({x: kept(clamp(x, ...this.ends.x)), y: kept(clamp(y, ...this.ends.y)), e: 0});
    this.changePoints();
    this.choose(this.points.length - 1);
  }
  removePoint(i) {
    if (this.points.length <= 3) return this.line.say(this.word('least'));
    const hadFocus = this.pointHandles[i].node === document.activeElement;
    this.points.splice(i, 1);
    this.pointHandles.pop().remove();
    this.choose(Math.min(i, this.points.length - 1), hadFocus);
    this.changePoints();
  }
  choose(i, focus) {
    this.change({chosen: (i + this.points.length) % this.points.length});
    if (focus) requestAnimationFrame(() => this.pointHandles[this.chosen].node.focus({preventScroll: true}));
  }
  movePoint(i, x, y) {
    const point = this.points[i], before = {...point};
    point.x = kept(clamp(x, ...this.ends.x));
    point.y = kept(clamp(y, ...this.ends.y));
    this.moved.sideways += Math.abs(point.x - before.x) / (this.ends.x[1] - this.ends.x[0]);
    this.moved.up += Math.abs(point.y - before.y) / this.spanY();
    this.changePoints();
    this.tellMove = true;
  }

  // Gradient descent on w, some steps a frame, until w rests or leaves the picture. As long as the loss falls, steps
  // grow; steps that raise it are taken back, and the next are shorter.
  toggleLearning() {
    if (this.descent?.running) return this.stop();
    if (this.state.w === 0) this.change({w: this.wEnds[0]});  // at w = 0 the derivative is 0
    this.learn.textContent = this.word('stop');
    let {rate} = this;
    this.descent = animate(() => {
      const {w, kernel, own} = this.state, n = this.points.length, steps = 3;
      const path = heed.call('regression_learn', [w, kernel, own, rate * Math.max(w, this.wide) ** 2, steps, n,
                                                  ...this.points.map(p => p.x), ...this.points.map(p => p.y)]);
      const next = Math.abs(path[2 * steps]), before = path[1], after = path[2 * steps + 1];
      const lower = after < before, moves = Math.abs(after - before) > 1e-6 * before;
      const on = rate > 1e-4 * this.rate && next < this.wEnds[1] && moves;
      rate *= lower ? 1.15 : 0.4;
      if (lower) this.change({w: +clamp(next, this.wEnds[0] / 100, this.wEnds[1]).toPrecision(6)});
      if (!on) this.stop();
      return on;
    });
    if (still.matches) requestAnimationFrame(() => this.stop());
  }
  stop() {
    this.descent?.stop();
    if (this.learn) this.learn.textContent = this.word('learn');
  }

  see() {
    this.now = this.compute();
    const {w, kernel, own, noise, made} = this.state;
    this.wSlider.show(w === 0 ? -0.05 : clamp(Math.log10(w / this.wEnds[0]), 0, 3));
    this.wSlider.node.querySelector('output').textContent = 'w = ' + short(w);
    this.noiseSlider.show(noise);
    this.learn.textContent = this.word(this.descent?.running ? 'stop' : 'learn');
    this.noiseSlider.input.disabled = !made;
    this.kernel.show(kernel);
    this.own.show(own);
    this.drawPlot();
    this.drawRow();
    this.drawValley();
    this.judge();
    this.tell();
  }
  drawPlot() {
    const {plot, state: {query, made}, now: {answer, curve}} = this;
    plot.begin(this.ends.x, this.ends.y);
    plot.axes(this.word('axis.key'), this.word('axis.value'));
    const xs = this.places(curve.length);
    const inside = xs.filter(x => x >= 0);
    if (made) plot.curve(inside, inside.map(truth), 'truth');
    plot.curve(xs, curve, 'fit');
    const x = plot.px(query), y = plot.py(answer), [dx, anchor] = x > plot.width / 2 ? [-12, 'end'] : [12, 'start'];
    plot.draw(svg('line', {class: 'query-line', x1: x, x2: x, y1: plot.margin.top, y2: plot.bottom}),
              svg('path', {class: 'answer', d: `M${x - 8},${y + 6}L${x + 8},${y + 6}L${x},${y - 8}Z`}),
              label(x + dx, plot.margin.top + 28, `q = ${fixed(query)}, f(q) = ${fixed(answer)}`,
                    {'text-anchor': anchor, class: 'strong'}));
    this.updateHandles();
  }
  // A handle a point, its area the weight.
  updateHandles() {
    const {pointHandles: handles, points} = this;
    while (handles.length > points.length) handles.pop().remove();
    while (handles.length < points.length) handles.push(this.pointHandle(handles.length));
    handles.forEach((handle, i) => {
      const r = Math.max(2.5, 42 * Math.sqrt(this.now.weights[i]));
      handle.node.lastChild.firstChild.setAttribute('r', r.toFixed(1));
      handle.node.lastChild.classList.toggle('weightless', this.now.weights[i] < 5e-4);
      handle.choose(i === this.chosen);
      handle.update();
    });
    this.queryHandle.update();
    const {x, y} = points[this.chosen];
    this.pointName.textContent =
        this.word('point.short', {i: this.chosen + 1, n: points.length, x: fixed(x), y: fixed(y)});
  }
  pointHandle(i) {
    const usual = this.usualPoints[i];
    const keys = {Delete: () => this.removePoint(i), PageUp: () => this.choose(i - 1, true),
                  PageDown: () => this.choose(i + 1, true)};
    return new Handle(this.plot, svg('g', {class: 'point'}, svg('circle', {}), svg('circle', {class: 'core', r: 2})), {
      dense: true, at: () => [this.points[i].x, this.points[i].y], value: () => this.points[i].y,
      step: () => [(this.ends.x[1] - this.ends.x[0]) / 100, this.spanY() / 100],
      label: () => this.word('point', {i: i + 1, n: this.points.length}),
      text: () => this.word('point.text', {x: fixed(this.points[i].x), y: fixed(this.points[i].y),
                                           weight: fixed(this.now.weights[i], 3)}),
      move: (x, y) => this.movePoint(i, x, y), focused: () => { if (this.chosen !== i) this.choose(i); },
      home: () => this.state.made && usual && this.movePoint(i, usual.x, usual.y),
      key: event => { keys[event.key]?.(); return event.key in keys; }});
  }
  // The weights as a row of the heat map, keys from left to right; numbers where they have space, the largest first.
  drawRow() {
    const width = this.plot.width, {left, right} = this.plot.margin, n = this.points.length, {weights} = this.now;
    const order = range(n).sort((a, b) => this.points[a].x - this.points[b].x), cell = (width - left - right) / n;
    const most = Math.max(...weights, 1e-9), taken = [];
    fill(this.row, {width, height: 62, viewBox: `0 0 ${width} 62`, 'aria-label': this.word('row')}, []);
    const cells = heatCells([order.map(i => weights[i])], {x: left, y: 20, cell: [cell, 22], most, text: () => '',
        attributes: (_, c) => order[c] === this.chosen ? {class: 'cell chosen'} : {}});
    const numbers = range(n).sort((a, b) => weights[order[b]] - weights[order[a]]).map(c => {
      const x = clamp(left + (c + 0.5) * cell, 14, width - 16);
      if (weights[order[c]] < 5e-4 || taken.some(other => Math.abs(other - x) < 34)) return false;
      taken.push(x);
      return label(x, 14, fixed(weights[order[c]], 3).replace(/^0/, ''), {'text-anchor': 'middle'});
    });
    this.row.replaceChildren(...cells, ...numbers.filter(Boolean), label(left, 57, this.word('row'), {class: 'soft'}));
  }
  drawValley() {
    const {valley, now: {kept, out, loss, gradient}, state: {own, w}} = this;
    valley.begin(this.wEnds, [0, this.lossEnd], true);
    valley.axes(this.word('axis.w'), 'L(w)');
    const ws = this.widths(out.length);
    valley.curve(ws, kept, 'kept');
    valley.curve(ws, out, 'out');
    const x = valley.px(this.shownW()), y = valley.py(clamp(loss, 0, this.lossEnd)), end = valley.right - 2;
    // The slope of the curve in pixels: dL/d(log w) = w dL/dw.
    const perDecade = (valley.right - valley.margin.left) / 3;
    const perLoss = (valley.bottom - valley.margin.top) / this.lossEnd;
    const slope = gradient * w * Math.LN10 * perLoss / perDecade, long = Math.min(Math.abs(slope) * 60, 70);
    if (long > 3) {
      const scale = (14 + long) / Math.hypot(1, slope), way = -Math.sign(slope);
      valley.draw(arrow(x, y, x + way * scale, y - way * slope * scale, {class: 'arrow gradient'}));
    }
    const near = (list, part) => clamp(valley.py(list[Math.round(part * (list.length - 1))]), 30, valley.bottom - 6);
    const name = (y, text, isStrong) =>
        label(end, y, text, {'text-anchor': 'end', class: isStrong ? 'strong' : 'soft'});
    valley.draw(name(near(out, 0.95) - 8, this.word('own.out'), !own),
                name(near(kept, 0.95) - 8, this.word('own.kept'), own),
                name(valley.margin.top + 10, `L = ${fixed(loss, 3)}, dL/dw = ${fixed(gradient, 3)}`, true));
    this.ball.update();
  }

  // Goals, and whether the picture has answered the question.
  judge() {
    const {w, own, made} = this.state, {weights, loss} = this.now;
    if (w === 0) this.reach('mean');
    if (w > this.wide && Math.max(...weights) > 0.99) this.reach('nearest');
    const changed = this.points.filter((p, i) => {
      const usual = this.usualPoints[i];
      return !usual || Math.abs(usual.x - p.x) > 2e-3 || Math.abs(usual.y - p.y) > 2e-3;
    });
    const isOneMoved = changed.length === 1 && this.points.length === this.usualPoints.length;
    if (made && !own && loss < 0.26 && isOneMoved) this.reach('lower');
    if (own && loss < 0.03) this.reach('cheat');
    if (this.moved.up > 0.1 && this.moved.sideways > 0.1) this.answered();
  }
  // The line that says what has changed.
  tell() {
    const {weights, answer, loss} = this.now, i = this.chosen;
    const change = this.weightsBefore?.length === weights.length
        ? Math.max(...weights.map((v, k) => Math.abs(v - this.weightsBefore[k]))) : 0;
    if (this.tellMove) {
      this.told = {...this.told, [change < 1e-6 ? 'value' : 'key']: true};
      if (this.told.value && this.told.key) this.reach('key');
      this.line.say(this.word(change < 1e-6 ? 'moved.up' : 'moved.sideways', {
        i: i + 1, weight: fixed(weights[i], 3), f: fixed(answer), change: fixed(change, 3)}));
    } else if (this.weightsBefore) {
      this.line.say(this.word('now', {w: short(this.state.w), f: fixed(answer), loss: fixed(loss, 3)}));
    }
    this.tellMove = false;
    this.weightsBefore = weights;
  }

  tables() {
    const {weights, answer, curve, out, kept} = this.now, some = rows => rows.filter((_, i) => i % 10 === 0);
    const rows = this.points.map((p, i) =>
        [i + 1, fixed(p.x), fixed(p.y), fixed(weights[i], 4), fixed(weights[i] * p.y, 4)]);
    const total = weights.reduce((sum, v) => sum + v, 0);
    return [
      [this.word('points'), ['i', ...['axis.key', 'axis.value', 'weight', 'product'].map(name => this.word(name))],
       [...rows, ['Σ', '', '', fixed(total, 4), fixed(answer, 4)]]],
      [this.word('plot'), ['q', 'f(q)'],
       some(this.places(curve.length).map((q, i) => [fixed(q), fixed(curve[i], 3)]))],
      [this.word('valley'), ['w', this.word('own.out'), this.word('own.kept')],
       some(this.widths(out.length).map((w, i) => [short(w), fixed(out[i], 3), fixed(kept[i], 3)]))]];
  }
  program() { return regressionProgram(this); }
});
