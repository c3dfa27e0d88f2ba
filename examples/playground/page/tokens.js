// Bench 3: four tokens. Words as arrows, and every matrix between them and the output; a number that is touched lights the
// numbers that it comes from.
// Requests and answers are those of tokens.h.

const tokenSets = {
  context: firstRequest('tokens').slice(4, 12),  // as the native program begins
  circle: [1.5, 0, 0, 1.5, -1.5, 0, 0, -1.5],
  twins: [1, 1, 1, 1, -1, 0.5, 0.5, -1],
};
const rotation = degrees => {
  const angle = degrees * Math.PI / 180, c = Math.cos(angle), s = Math.sin(angle);
  return [c, s, -s, c];
};

bench('tokens', class extends Bench {
  static defaults = {set: 'context', X: tokenSets.context, order: [0, 1, 2, 3], angles: [0, 0, 0, 0], heads: 1, positions: 0,
                     allowed: Array(16).fill(1), pick: 'A0 2 0'};
  static question = {answers: ['move', 'change', 'none'], right: 'move'};
  static goals = ['causal', 'alone', 'order'];
  static concepts = ['2_scaled_dot_product#C-001-02', '3_scores_and_self_attention#C-002-14', '5_multi_head_and_masks#C-100-01'];

  get names() { const all = this.word('names.' + this.state.set).split(' '); return this.state.order.map(i => all[i]); }
  compute() {
    const {X, angles, heads, positions, allowed} = this.state, T = 4, d = 2;
    const answer = heed.call('tokens', [heads, positions, T, d, ...X, ...angles.flatMap(rotation), ...allowed]);
    let at = 0;
    const matrix = (rows, columns) => range(rows).map(() => [...answer.subarray(at, at += columns)]);
    const now = {X: matrix(T, d), Q: matrix(T, d), K: matrix(T, d), V: matrix(T, d)};
    for (const name of ['S', 'A']) for (const h of range(heads)) now[name + h] = matrix(T, T);
    Object.assign(now, {Z: matrix(T, d), Y: matrix(T, d)});
    'QKVO'.split('').forEach((name, i) => {
      const w = rotation(angles[i]);
      now['W' + name] = [w.slice(0, 2), w.slice(2)];
    });
    return now;
  }

  setup(stage) {
    this.plot = new Plot(this.word('plot'), 330);
    this.matrices = html('div', {class: 'matrices'});
    this.parts = {};
    this.sum = html('p', {class: 'sum', role: 'status'});
    stage.append(html('div', {class: 'pictures two swapped'},
        html('figure', {}, html('figcaption', {}, this.word('plot')), html('div', {class: 'square'}, this.plot.svg)),
        html('div', {}, html('b', {}, this.word('matrices')), this.matrices, this.sum)), this.controls());
    this.wordHandles = range(4).map(t => new Handle(this.plot, svg('circle', {r: 8}), {
      name: 'word', at: () => this.state.X.slice(2 * t, 2 * t + 2), step: () => [0.05, 0.05], value: () => this.state.X[2 * t],
      label: () => this.names[t], text: () => `(${this.state.X.slice(2 * t, 2 * t + 2).map(value => fixed(value)).join(', ')})`,
      move: (x, y) => this.moveWord(t, x, y), home: () => this.moveWord(t, 0, 0)}));
  }
  moveWord(t, x, y) {
    const X = [...this.state.X];
    X.splice(2 * t, 2, +clamp(x, -2.4, 2.4).toFixed(2), +clamp(y, -2.4, 2.4).toFixed(2));
    this.change({X});
  }
  controls() {
    this.turns = 'QKVO'.split('').map((name, i) => slider({
      name: this.word('turn', {name}), min: -180, max: 180, step: 5, value: 0, text: value => `${fixed(value, 0)}°`,
      change: value => this.change({angles: this.state.angles.map((angle, k) => k === i ? value : angle)})}));
    this.set = choice({name: this.word('set'), value: this.state.set,
                       options: Object.keys(tokenSets).map(set => [set, this.word('set.' + set)]),
                       change: set => this.change({set, X: tokenSets[set], order: [0, 1, 2, 3]})});
    this.heads = choice({name: this.word('heads'), value: this.state.heads, options: [[1, '1'], [2, '2']],
                         change: heads => this.change({heads})});
    this.positions = toggle({name: this.word('positions'), value: Boolean(this.state.positions),
                             change: on => this.change({positions: Number(on)})});
    this.forbid = button(this.word('forbid'), () => this.flip(), {class: 'main'});
    return html('div', {class: 'controls'},
        html('div', {class: 'reach'}, this.forbid, button(this.word('shuffle'), () => this.shuffle()),
             button(this.word('causal'), () => this.change({allowed: range(16).map(i => Number(i % 4 <= i >> 2))})),
             button(this.word('reset'), () => this.change({...this.kind.defaults}))),
        this.set.node, html('div', {class: 'row'}, this.heads.node, this.positions.node),
        html('div', {class: 'leaves'}, this.turns.map(turn => turn.node)));
  }
  // The first and the third word change places.
  shuffle() {
    const swap = list => [list[2], list[1], list[0], list[3]], {X, order} = this.state;
    const pairs = swap(range(4).map(t => X.slice(2 * t, 2 * t + 2)));
    this.before = {positions: this.state.positions, Z: this.now.Z};
    this.change({X: pairs.flat(), order: swap(order)});
  }
  // Forbids the picked query the picked key, or allows it again. One key must be left.
  flip() {
    const {row, column} = this.picked(), allowed = [...this.state.allowed], i = 4 * row + column;
    allowed[i] = 1 - allowed[i];
    if (!allowed.slice(4 * row, 4 * row + 4).includes(1)) return this.line.say(this.word('least'));
    this.change({allowed});
  }
  picked() {
    const [name, row, column] = this.state.pick.split(' ');
    return {name: this.now?.[name] ? name : 'A0', row: +row, column: +column};
  }

  // Where a number comes from: the numbers to light, and its sum in words.
  sources({name, row, column}) {
    const {now} = this, heads = this.state.heads, wide = 2 / heads, h = +name[1] || 0;
    const cut = range(wide).map(c => h * wide + c), value = fixed(now[name][row][column], 3);
    const product = (a, b) => a.map((x, i) => `${fixed(x)} · ${fixed(b[i])}`).join(' + ');
    const rowOf = (matrix, r, columns) => columns.map(c => `${matrix} ${r} ${c}`);
    const mapped = {Q: 'X', K: 'X', V: 'X', Y: 'Z'}[name];
    if (mapped) {
      const W = name === 'Y' ? 'WO' : 'W' + name;
      return {from: [...rowOf(mapped, row, [0, 1]), `${W} 0 ${column}`, `${W} 1 ${column}`],
              text: `${name} = ${product(now[mapped][row], now[W].map(line => line[column]))} = ${value}`};
    }
    if (name[0] === 'S') return {from: [...rowOf('Q', row, cut), ...rowOf('K', column, cut)],
        text: `S = (${product(cut.map(c => now.Q[row][c]), cut.map(c => now.K[column][c]))}) / √${wide} = ${value}`};
    if (name[0] === 'A') {
      const keys = range(4).filter(j => this.state.allowed[4 * row + j]), power = j => `exp(${fixed(now['S' + h][row][j])})`;
      return {from: rowOf('S' + h, row, keys), text: this.state.allowed[4 * row + column]
          ? `A = ${power(column)} / (${keys.map(power).join(' + ')}) = ${value}`
          : this.word('masked')};
    }
    if (name === 'Z') {
      const A = 'A' + Math.floor(column / wide);
      return {from: [...rowOf(A, row, range(4)), ...range(4).map(j => `V ${j} ${column}`)],
              text: `Z = ${product(now[A][row], now.V.map(line => line[column]))} = ${value}`};
    }
    return {from: [], text: `${name} = ${value}`};
  }

  see() {
    const {angles, heads, positions, set} = this.state;
    this.now = this.compute();
    this.turns.forEach((turn, i) => turn.show(angles[i]));
    this.turns[3].node.hidden = heads === 1;
    this.set.show(set);
    this.heads.show(heads);
    this.positions.show(Boolean(positions));
    const picked = this.picked(), {from, text} = this.sources(picked);
    this.forbid.disabled = !'SA'.includes(picked.name[0]);
    this.forbid.textContent = this.word(this.state.allowed[4 * picked.row + picked.column] ? 'forbid' : 'allow');
    this.sum.textContent = text;
    this.drawMatrices(picked, new Set(from));
    this.drawArrows();
    this.judge();
    const weights = this.names.map((name, t) => `${name} ${fixed(this.now.A0[2][t])}`).join(word('page.comma'));
    this.line.say(this.word('now', {weights, query: this.names[2]}));
  }
  // The words of X as arrows from 0, the outputs Z as dashed ones.
  drawArrows() {
    const {plot, names, state: {X}, now: {Z}} = this, side = clamp(plot.svg.parentElement.clientWidth, 200, 420);
    plot.height = side;
    plot.margin = {left: 0, right: 0, top: 0, bottom: 0};
    plot.svg.parentElement.style.maxWidth = side + 'px';
    plot.begin([-2.6, 2.6], [-2.6, 2.6]);
    const middle = plot.px(0);
    plot.draw(svg('line', {class: 'grid', x1: 0, x2: side, y1: middle, y2: middle}),
              svg('line', {class: 'grid', x1: middle, x2: middle, y1: 0, y2: side}),
              range(4).map(t => arrow(middle, middle, plot.px(Z[t][0]), plot.py(Z[t][1]), {class: 'arrow output'})),
              range(4).map(t => arrow(middle, middle, plot.px(X[2 * t]), plot.py(X[2 * t + 1]))));
    const taken = [];  // names of words in one place stand below each other
    plot.draw(range(4).map(t => {
      let x = plot.px(X[2 * t]) + 12, y = plot.py(X[2 * t + 1]) - 8;
      const wide = widthOf(names[t]) + 14;
      if (x + wide > side) x -= wide + 24;
      while (taken.some(([a, b]) => Math.abs(a - x) < 40 && Math.abs(b - y) < 15)) y += 15;
      taken.push([x, y]);
      return label(x, y, names[t], {class: 'strong'});
    }));
    for (const handle of this.wordHandles) handle.update();
  }
  // Every matrix is a picture of its own, 44 pixels a number.
  drawMatrices(picked, from) {
    const {heads, allowed} = this.state, shown = ['X', 'WQ', 'WK', 'WV', 'Q', 'K', 'V',
        ...range(heads).flatMap(h => ['S' + h, 'A' + h]), 'Z', ...heads === 2 ? ['WO', 'Y'] : []];
    for (const name of Object.keys(this.parts).filter(one => !shown.includes(one))) {
      this.parts[name].remove();
      delete this.parts[name];
    }
    for (const name of shown) {
      if (!this.parts[name]?.isConnected) {
        const picture = svg('svg', {class: 'plot matrix', tabindex: 0, role: 'img', onclick: event => this.tap(name, event),
                                    onkeydown: event => this.walk(name, event)});
        const words = this.word('matrix.' + (name[0] === 'W' ? name : name[0]));
        const head = heads === 2 && 'SA'.includes(name[0]) ? ` ${+name[1] + 1}` : '';
        this.parts[name] = html('figure', {class: 'one'}, html('figcaption', {}, words + head), picture);
      }
      this.matrices.append(this.parts[name]);  // in order; a node that is there moves
      this.drawMatrix(name, picked, from, allowed);
    }
  }
  drawMatrix(name, picked, from, allowed) {
    const rows = this.now[name], picture = this.parts[name].lastChild;
    const square = 'SA'.includes(name[0]), left = name[0] === 'W' ? 2 : 46;
    const width = left + 44 * rows[0].length + 2, top = square ? 18 : 2, height = top + 44 * rows.length + 2;
    const most = name[0] === 'A' ? 1 : Math.max(2.5, ...rows.flat().map(Math.abs));
    const focus = document.activeElement === picture;
    const spoken = rows.map(row => row.map(value => fixed(value)).join(' ')).join('; ');
    fill(picture, {width, height, viewBox: `0 0 ${width} ${height}`, 'aria-label': `${name}: ${spoken}`}, []);
    const forbidden = (r, c) => square && !allowed[4 * r + c];
    const mark = (r, c) =>
        picked.name === name && picked.row === r && picked.column === c ? 'chosen' : from.has(`${name} ${r} ${c}`) && 'source';
    const marks = rows.flatMap((row, r) => row.map((_, c) => mark(r, c)
        && svg('rect', {class: 'mark ' + mark(r, c), x: left + 44 * c + 1.5, y: top + 44 * r + 1.5, width: 41, height: 41})));
    // A number on hatches is written above them.
    const hatched = rows.flatMap((row, r) => row.flatMap((value, c) => forbidden(r, c) ? [
      svg('rect', {class: 'forbidden', x: left + 44 * c, y: top + 44 * r, width: 44, height: 44}),
      label(left + 44 * c + 22, top + 44 * r + 26, fixed(value), {'text-anchor': 'middle'})] : []));
    picture.replaceChildren(
      ...heatCells(rows, {x: left, y: top, cell: [44, 44], most, text: (value, r, c) => forbidden(r, c) ? '' : fixed(value)}),
      ...hatched, ...marks.filter(Boolean),
      ...left > 2 ? this.names.map((one, r) => label(left - 5, top + 44 * r + 26, one, {'text-anchor': 'end', class: 'soft'})) : [],
      ...square ? this.names.map((one, c) => label(left + 44 * c + 22, 12, one, {'text-anchor': 'middle', class: 'soft'})) : []);
    if (focus) picture.focus({preventScroll: true});
  }
  tap(name, event) {
    const picture = this.parts[name].lastChild, box = picture.getBoundingClientRect(), rows = this.now[name];
    const left = name[0] === 'W' ? 2 : 46, top = 'SA'.includes(name[0]) ? 18 : 2;
    const column = Math.floor((event.clientX - box.left - left) / 44), row = Math.floor((event.clientY - box.top - top) / 44);
    if (rows[row]?.[column] !== undefined) this.change({pick: `${name} ${row} ${column}`});
  }
  walk(name, event) {
    const [dr, dc] = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key] ?? [];
    const here = this.picked(), rows = this.now[name];
    if (event.key === 'Enter' || event.key === ' ') this.flip();
    else if (dr === undefined) return;
    else {
      const [row, column] = here.name === name ? [here.row + dr, here.column + dc] : [0, 0];
      this.change({pick: `${name} ${clamp(row, 0, rows.length - 1)} ${clamp(column, 0, rows[0].length - 1)}`});
    }
    event.preventDefault();
  }

  judge() {
    const {allowed} = this.state, {A0, Z} = this.now;
    if (allowed.every((one, i) => one === Number(i % 4 <= i >> 2))) this.reach('causal');
    if (allowed.every(Boolean) && A0[2][2] > 0.7) this.reach('alone');
    if (!this.before) return;
    const moved = [2, 1, 0, 3].every((from, t) => Z[t].every((value, c) => Math.abs(value - this.before.Z[from][c]) < 1e-4));
    if (moved && !this.before.positions) this.answered();
    if (!moved && this.before.positions && this.state.positions) this.reach('order');
    this.before = undefined;
  }
  table() {
    return [[this.word('query'), ...this.names, 'Z'], this.names.map((name, t) => [name,
        ...this.now.A0[t].map(value => fixed(value, 3)), this.now.Z[t].map(value => fixed(value, 3)).join(', ')])];
  }
  program() {
    const {X, angles, allowed, heads, positions} = this.state;
    const matrix = (list, wide) => `{${range(list.length / wide).map(r => cppList(list.slice(wide * r, wide * r + wide))).join(', ')}}`;
    const rows = list => matrix(list, 2), mask = matrix(allowed, 4);
    const split = name => heads === 1 ? name : `transpose(reshape(${name}, {4, 2, 1}), 0, 1)`;
    return `// tokens.cpp: ${this.word('title')}
#include <heed.h>

#include <iostream>
using namespace heed;

int main() {
  const Tensor X = tensor(${rows(positions ? this.now.X.flat() : X)});
${(heads === 1 ? 'QKV' : 'QKVO').split('').map((name, i) => `  const Tensor W_${name} = tensor(${rows(rotation(angles[i]))});`).join('\n')}
  const Tensor allowed = tensor(${mask}) == 1;
  const Tensor Q = matmul(X, W_Q), K = matmul(X, W_K), V = matmul(X, W_V);
  const AttentionResult result = F::scaled_dot_product_attention(
      ${['Q', 'K', 'V'].map(split).join(',\n      ')},
      {.mask = allowed, .need_weights = true});
  const Tensor Z = ${heads === 1 ? 'result.output' : 'reshape(transpose(result.output, 0, 1), {4, 2})'};
  std::cout << "A " << result.weights << '\\n';
  std::cout << "Z " << Z << '\\n';
${heads === 1 ? '' : `  std::cout << "Y " << matmul(Z, W_O) << '\\n';
`}}
`;
  }
});
