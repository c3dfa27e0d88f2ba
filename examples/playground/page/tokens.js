// Bench 3: four tokens. Words as arrows, and every matrix between them and the output. A number that is touched lights
// the numbers that it comes from, and its sum is written out. Requests and answers are those of tokens.h.
//
// A number is named by its matrix, row and column, "A0 2 1"; W_Q is WQ here, and S0, S1 and A0, A1 are those of the
// heads. M is the mask.

const cellSide = 44;   // pixels
const mostColumns = 4;  // of a matrix in the picture

bench('tokens', class extends Bench {
  static defaults = {set: 'context', X: tokenSets.context.X.flat(), order: range(4), angles: [0, 0, 0, 0], heads: 1,
                     positions: 0, allowed: Array(16).fill(1), pick: 'A0 2 0'};
  static question = {answers: ['move', 'change', 'none'], right: 'move'};
  static goals = ['bank', 'causal', 'alone', 'order'];
  static concepts = ['2_scaled_dot_product#C-001-02', '2_scaled_dot_product#C-004-06',
                     '3_scores_and_self_attention#C-002-14', '5_multi_head_and_masks#C-100-01'];

  // Words and mask begin as in the preset.
  usual({set}) {
    const {X} = tokenSets[set] ?? tokenSets.context, T = X.length;
    return {...this.kind.defaults, set, X: X.flat(), order: range(T), allowed: Array(T * T).fill(1),
            pick: `A0 ${Math.min(2, T - 1)} 0`};
  }
  get preset() { return tokenSets[this.state.set] ?? tokenSets.context; }
  get T() { return this.preset.X.length; }
  get end() { return this.preset.end ?? 2.6; }  // of both axes
  get d() { return this.preset.X[0].length; }
  get names() {
    const all = this.word('names.' + this.state.set).split(' ');
    return this.state.order.map(i => all[i]);
  }
  wordAt(t) { return this.state.X.slice(this.d * t, this.d * (t + 1)); }
  isAllowed(row, column) { return this.state.allowed[this.T * row + column] === 1; }

  // W_Q, W_K, W_V and W_O, turned by the reader.
  matrices() {
    const {preset, d} = this, width = (preset.V ?? identity(d))[0].length;
    const plain = [...'QKV'].map(name => preset[name] ?? identity(d));
    plain.push(range(width).map(r => range(d).map(c => Number(r === c))));
    return plain.map((matrix, i) => turnedRows(matrix, this.state.angles[i]));
  }
  compute() {
    const {T, d, state: {X, heads, positions, allowed}} = this, [WQ, WK, WV, WO] = this.matrices();
    const widths = [WQ[0].length, WV[0].length], weights = [WQ, WK, WV, WO].flat(2);
    const answer = heed.call('tokens', [heads, positions, T, d, ...widths, ...X, ...weights, ...allowed]);
    const read = new NumberReader(answer), matrix = (rows, columns) => range(rows).map(() => [...read.many(columns)]);
    const now = {WQ, WK, WV, WO, M: range(T).map(r => allowed.slice(T * r, T * r + T)), X: matrix(T, d),
                 Q: matrix(T, widths[0]), K: matrix(T, widths[0]), V: matrix(T, widths[1])};
    for (const name of 'SA') for (const head of range(heads)) now[name + head] = matrix(T, T);
    return Object.assign(now, {Z: matrix(T, widths[1]), Y: matrix(T, d)});
  }

  setup(stage) {
    this.plot = new Plot(this.word('plot'), 330);
    this.caption = html('figcaption');
    this.about = html('p', {class: 'soft'});
    this.parts = {};
    this.grid = html('div', {class: 'matrices'}, range(3).map(() => html('div', {class: 'break'})));
    this.sum = html('p', {class: 'sum'});
    this.wordHandles = [];
    stage.append(this.sets(), html('div', {class: 'pictures two swapped'},
        html('figure', {}, this.caption, html('div', {class: 'square'}, this.plot.svg)),
        html('div', {}, html('b', {}, this.word('matrices')), this.grid, this.sum)), this.controls());
  }
  sets() {
    this.set = choice({name: this.word('set'), value: this.state.set,
                       options: Object.keys(tokenSets).map(set => [set, this.word('set.' + set)]),
                       change: set => this.change(this.usual({set}))});
    return html('div', {}, this.set.node, this.about);
  }
  controls() {
    this.turns = [...'QKVO'].map((name, i) => slider({
      name: this.word('turn', {name}), min: -180, max: 180, step: 5, value: 0, text: value => `${fixed(value, 0)}°`,
      change: value => this.change({angles: this.state.angles.with(i, value)})}));
    this.heads = choice({name: this.word('heads'), value: this.state.heads, options: [[1, '1'], [2, '2']],
                         change: heads => this.change({heads})});
    this.positions = toggle({name: this.word('positions'), value: false,
                             change: on => this.change({positions: Number(on)})});
    this.forbid = button(this.word('forbid'), () => this.flip(), {class: 'main'});
    const causal = () => range(this.T ** 2).map(i => Number(i % this.T <= Math.floor(i / this.T)));
    return html('div', {class: 'controls'},
        html('div', {class: 'reach'}, this.forbid, button(this.word('shuffle'), () => this.shuffle()),
             button(this.word('causal'), () => this.change({allowed: causal()})),
             button(this.word('reset'), () => this.change(this.usual(this.state)))),
        html('div', {class: 'row'}, this.heads.node, this.positions.node),
        html('div', {class: 'leaves'}, this.turns.map(turn => turn.node)));
  }
  // Two words change places, the first and the third if there are as many.
  swapped(list) { return list.with(0, list[this.T > 2 ? 2 : 1]).with(this.T > 2 ? 2 : 1, list[0]); }
  shuffle() {
    const words = range(this.T).map(t => this.wordAt(t));
    this.before = {positions: this.state.positions, Z: this.now.Z};
    this.change({X: this.swapped(words).flat(), order: this.swapped(this.state.order)});
  }
  // Forbids the picked query the picked key, or allows it again. One key must be left.
  flip() {
    const {row, column} = this.picked(), {T} = this, allowed = [...this.state.allowed];
    allowed[T * row + column] = 1 - allowed[T * row + column];
    if (!allowed.slice(T * row, T * row + T).includes(1)) return this.line.say(this.word('least'));
    this.change({allowed});
  }
  picked() {
    const [name, row, column] = this.state.pick.split(' '), isThere = this.now?.[name]?.[row]?.[column] !== undefined;
    return isThere ? {name, row: +row, column: +column} : {name: 'A0', row: 0, column: 0};
  }

  // The words, to drag in the plane of their first two coordinates.
  wordHandle(t) {
    const move = (x, y) => {
      const most = this.end - 0.2, at = this.d * t;
      const [x1, y1] = [x, y].map(value => +clamp(value, -most, most).toFixed(2));
      this.change({X: this.state.X.with(at, x1).with(at + 1, y1)});
    };
    return new Handle(this.plot, svg('circle', {r: 8}), {
      name: 'word', at: () => this.wordAt(t), step: () => [0.05, 0.05], value: () => this.wordAt(t)[0],
      label: () => this.names[t], text: () => `(${this.wordAt(t).map(value => fixed(value)).join(', ')})`,
      move, home: () => move(0, 0)});
  }

  see() {
    const {angles, heads, positions, set, allowed} = this.state;
    this.now = this.compute();
    this.turns.forEach((turn, i) => turn.show(angles[i]));
    this.turns[3].node.hidden = heads === 1;
    this.set.show(set);
    this.heads.show(heads);
    this.heads.node.hidden = Boolean(this.preset.Q);  // two heads have one coordinate each
    this.positions.show(Boolean(positions));
    this.about.textContent = this.word('about.' + set);
    this.caption.textContent = this.word(this.d > 2 ? 'plot.first' : 'plot');
    const picked = this.picked(), {from, text} = tokenSources(this, picked);
    this.forbid.disabled = !'SAM'.includes(picked.name[0]);
    this.forbid.textContent = this.word(allowed[this.T * picked.row + picked.column] ? 'forbid' : 'allow');
    this.sum.textContent = text;
    this.drawMatrices(picked, new Set(from));
    this.drawArrows();
    this.judge();
    this.line.say(this.state.pick === this.told ? this.weightsOf(Math.min(2, this.T - 1)) : text);
    this.told = this.state.pick;
  }
  weightsOf(query) {
    const weights = this.names.map((name, t) => `${name} ${fixed(this.now.A0[query][t])}`).join(word('page.comma'));
    return this.word('now', {weights, query: this.names[query]});
  }
  // The words of X as arrows from 0, the outputs Z as dashed ones.
  drawArrows() {
    const {plot, T, now: {Z}} = this, frame = plot.svg.parentElement, side = clamp(frame.clientWidth, 200, 420);
    const {end} = this;
    plot.height = side;
    plot.margin = {left: 0, right: 0, top: 0, bottom: 0};
    frame.style.maxWidth = side + 'px';
    plot.begin([-end, end], [-end, end]);
    const middle = plot.px(0), to = ([x, y]) => [middle, middle, plot.px(x), plot.py(y)];
    plot.draw(svg('line', {class: 'grid', x1: 0, x2: side, y1: middle, y2: middle}),
              svg('line', {class: 'grid', x1: middle, x2: middle, y1: 0, y2: side}),
              Z.map(z => arrow(...to(z), {class: 'arrow output'})),
              range(T).map(t => arrow(...to(this.wordAt(t)))));
    this.nameWords(side);
    while (this.wordHandles.length > T) this.wordHandles.pop().remove();
    while (this.wordHandles.length < T) this.wordHandles.push(this.wordHandle(this.wordHandles.length));
    for (const handle of this.wordHandles) handle.update();
  }
  // Names beside the heads of the arrows; those of words in one place stand below each other.
  nameWords(side) {
    const {plot, names} = this, taken = [];
    plot.draw(names.map((name, t) => {
      const [wx, wy] = this.wordAt(t), wide = widthOf(name) + 14;
      let x = plot.px(wx) + 12, y = plot.py(wy) - 8;
      if (x + wide > side) x -= wide + 24;
      while (taken.some(([a, b]) => Math.abs(a - x) < 40 && Math.abs(b - y) < 15)) y += 15;
      taken.push([x, y]);
      return label(x, y, name, {class: 'strong'});
    }));
  }

  // Every matrix is a picture of its own, 44 pixels a number.
  drawMatrices(picked, from) {
    const shown = this.shownMatrices();
    for (const name of Object.keys(this.parts).filter(one => !shown.includes(one))) {
      this.parts[name].remove();
      delete this.parts[name];
    }
    for (const name of shown) {
      this.parts[name] ??= this.matrixFigure(name);
      if (!this.parts[name].isConnected) this.grid.append(this.parts[name]);
      this.drawMatrix(name, picked, from);
    }
    shown.forEach((name, i) => { this.parts[name].style.order = 2 * i; });
    // Lines begin with Q, with the scores, and with the weights.
    [...this.grid.querySelectorAll('.break')].forEach((line, i) => {
      line.style.order = 2 * shown.indexOf(['Q', 'S0', 'A0'][i]) - 1;
    });
  }
  shownMatrices() {
    const heads = range(this.state.heads), ofHeads = name => heads.map(head => name + head);
    return ['X', 'WQ', 'WK', 'WV', 'Q', 'K', 'V', ...ofHeads('S'), 'M', ...ofHeads('A'), 'Z',
            ...heads.length === 2 ? ['WO', 'Y'] : []];
  }
  titleOf(name) {
    const words = this.word('matrix.' + (name[0] === 'W' ? name : name[0]));
    return words + (this.state.heads === 2 && 'SA'.includes(name[0]) ? ` ${+name[1] + 1}` : '');
  }
  matrixFigure(name) {
    const picture = svg('svg', {class: 'plot matrix', tabindex: 0, role: 'img', onclick: event => this.tap(name, event),
                                onkeydown: event => this.walk(name, event)});
    return html('figure', {class: 'one'}, html('figcaption'), picture);
  }
  // Where a matrix begins in its picture: names of words stand left of rows and above columns of keys.
  frameOf(name) {
    const isSquare = 'SAM'.includes(name[0]), wide = Math.max(...this.names.map(widthOf)) + 16;
    return {left: name[0] === 'W' ? 2 : wide, top: isSquare ? 18 : 2, isSquare};
  }
  drawMatrix(name, picked, from) {
    const rows = this.now[name], [caption, picture] = this.parts[name].children, names = this.names;
    const {left, top, isSquare} = this.frameOf(name);
    const all = rows[0].length, columns = all > mostColumns ? mostColumns - 1 : all, isCut = columns < all;
    caption.textContent = this.titleOf(name);
    const keyWide = isSquare ? Math.max(cellSide, ...names.map(one => widthOf(one) + 6)) : cellSide;
    const width = left + keyWide * columns + (isCut ? 56 : 2), height = top + cellSide * rows.length + 2;
    const spoken = rows.map(row => row.slice(0, columns).map(value => fixed(value)).join(' ')).join('; ');
    fill(picture, {width, height, viewBox: `0 0 ${width} ${height}`,
                   'aria-label': `${this.titleOf(name)}: ${spoken}`}, []);
    picture.dataset.wide = keyWide;
    const middle = (r, c) => [left + keyWide * (c + 0.5), top + cellSide * (r + 0.5) + 4];
    const centered = (r, c, text, kind) => label(...middle(r, c), text, {'text-anchor': 'middle', class: kind});
    const box = (r, c, kind, inset = 0) =>
        svg('rect', {class: kind, x: left + keyWide * c + inset, y: top + cellSide * r + inset,
                     width: keyWide - 2 * inset, height: cellSide - 2 * inset});
    const isPicked = (r, c) => picked.name === name && picked.row === r && picked.column === c;
    const mark = (r, c) => isPicked(r, c) ? 'mark chosen' : from.has(`${name} ${r} ${c}`) ? 'mark source' : undefined;
    const shown = rows.map(row => row.slice(0, columns));
    const cells = shown.flatMap((row, r) => row.map((value, c) => [r, c, value]));
    const forbids = (r, c) => isSquare && !this.isAllowed(r, c), isMask = name === 'M';
    const most = isMask ? 1e9 : name[0] === 'A' ? 1 : Math.max(2.5, ...shown.flat().map(Math.abs));
    const text = (value, r, c) => forbids(r, c) ? '' : isMask ? '✓' : fixed(value);
    picture.replaceChildren(
        ...heatCells(shown.map((row, r) => row.map((value, c) => forbids(r, c) ? 0 : value)),
                     {x: left, y: top, cell: [keyWide, cellSide], most, text}),
        // A number on hatches is written above them, and the cell has no color.
        ...cells.filter(([r, c]) => forbids(r, c)).flatMap(([r, c, value]) =>
            [box(r, c, 'forbidden'), centered(r, c, isMask ? '✗' : fixed(value))]),
        ...cells.filter(([r, c]) => mark(r, c)).map(([r, c]) => box(r, c, mark(r, c), 1.5)),
        ...(left > 2 ? names : []).map((one, r) =>
            label(left - 5, middle(r, 0)[1], one, {'text-anchor': 'end', class: 'soft'})),
        ...(isSquare ? names : []).map((one, c) =>
            label(middle(0, c)[0], 12, one, {'text-anchor': 'middle', class: 'soft'})),
        ...isCut ? [label(width - 28, height / 2 + 4, `… ${all}`, {'text-anchor': 'middle', class: 'soft'})] : []);
  }
  tap(name, event) {
    const picture = this.parts[name].lastChild, box = picture.getBoundingClientRect(), {left, top} = this.frameOf(name);
    const row = Math.floor((event.clientY - box.top - top) / cellSide);
    const column = Math.floor((event.clientX - box.left - left) / +picture.dataset.wide);
    if (this.now[name][row]?.[column] === undefined || column >= mostColumns) return;
    this.change({pick: `${name} ${row} ${column}`});
    if (name === 'M') this.flip();
  }
  walk(name, event) {
    const here = this.picked(), rows = this.now[name].map(row => row.slice(0, mostColumns));
    const beside = cellBeside([here.row, here.column], event.key, rows);
    const next = beside && here.name !== name ? [0, 0] : beside;  // into a matrix by its first cell
    if (event.key === 'Enter' || event.key === ' ') this.flip();
    else if (next) this.change({pick: `${name} ${next.join(' ')}`});
    else return;
    event.preventDefault();
  }

  judge() {
    const {T, state: {allowed, set, order, positions}, now: {A0, X, Z}} = this, isFull = allowed.every(Boolean);
    const isNear = (a, b, far) => a.every((value, c) => Math.abs(value - b[c]) < far);
    if (allowed.every((one, i) => one === Number(i % T <= Math.floor(i / T)))) this.reach('causal');
    if (isFull && T > 2 && A0[2][2] > 0.7) this.reach('alone');
    const [first, second] = [1, 3].map(i => order.indexOf(i));
    if (set === 'bank' && isNear(X[first], X[second], 1e-3) && !isNear(Z[first], Z[second], 0.5)) this.reach('bank');
    if (!this.before) return;
    const isMoved = this.swapped(range(T)).every((from, t) => isNear(Z[t], this.before.Z[from], 1e-4));
    if (isMoved && isFull && !this.before.positions) this.answered();
    if (!isMoved && this.before.positions && positions) this.reach('order');
    this.before = undefined;
  }
  // One of each matrix in the picture.
  tables() {
    return this.shownMatrices().map(name => {
      const rows = this.now[name], isWeights = name[0] === 'W';
      const columns = 'SAM'.includes(name[0]) ? this.names : rows[0].map((_, c) => c + 1);
      return [this.titleOf(name), ['', ...columns],
              rows.map((row, r) => [isWeights ? r + 1 : this.names[r], ...row.map(value => fixed(value, 3))])];
    });
  }
  program() { return tokensProgram(this); }
});
