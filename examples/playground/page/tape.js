// Bench 5: the tape. A computation of the reader's own, forward and backward, step by step.
//
// The layouts of request and answer are those of tape.h. A text is its length in bytes, then its bytes (UTF-8); a tensor
// whose sizes are known is its values, row by row.
//   tape      order, text program           order: 0 each rule waits for its complete gradient, 1 it runs at the first part
//     answer  text error                    empty, or why the program cannot be computed; then nothing follows
//             n, then for each node         text label, text operation, text rule, leaf (0 or 1), dimensions d, sizes [d],
//                                           values, k, inputs [k] (indices of nodes, inputs before results)
//             s, then for each step back    node, its gradient, p, then p times: input (index of a node), part of its gradient
//             for each leaf                 finite differences of the result
// A program is statements between semicolons: x = 3; a = x * x; y = 2 * a. The last one is the result, a single number.

const tapeExamples = {
  twice: 'x = 3; a = x * x; b = 2 * a; y = a * b',
  tanh: 'w = 0.5; x = 2; b = -0.5; y = tanh(w * x + b)',
  attention: 'q = 1; k = [0, 1, 2]; v = [2, 4, 1]; a = softmax(q * k); y = sum(a * v)',
  bias: 'm = [[1, 2], [3, 4]]; b = [1, -1]; y = sum(square(m + b))',
};

// A text as numbers, and numbers read one after another.
const textNumbers = text => { const bytes = new TextEncoder().encode(text); return [bytes.length, ...bytes]; };
class NumberReader {
  constructor(numbers) { Object.assign(this, {numbers, at: 0}); }
  one() { return this.numbers[this.at++]; }
  many(count) { return this.numbers.slice(this.at, this.at += count); }
  text() { return new TextDecoder().decode(Uint8Array.from(this.many(this.one()))); }
  list(read) { return range(this.one()).map(() => read()); }
}

// The statements of a program: name, expression, and for a leaf its value, a number or nested lists.
function statementsOf(program) {
  return program.split(/[;\n]/).map(one => one.trim()).filter(Boolean).map(one => {
    const [, name, expression] = one.match(/^(\w+)\s*=([^=].*)$/) ?? [one, 'y', one];
    let value;
    try { value = JSON.parse(expression); } catch { value = undefined; }
    return {name, expression: expression.trim(), value};
  });
}
const programOf = statements =>
    statements.map(({name, expression, value}) => `${name} = ${value === undefined ? expression : listText(value)}`).join('; ');
const listText = value => Array.isArray(value) ? `[${value.map(listText).join(', ')}]` : String(value);

bench('tape', class extends Bench {
  static defaults = {text: tapeExamples.twice, order: 0, at: 0};
  static question = {answers: ['first', 'all', 'any'], right: 'all'};
  static goals = ['three', 'one', 'flat'];
  static concepts = ['8_autograd#C-100-08', '8_autograd'];

  compute() {
    const {text, order} = this.state, key = order + text;
    if (key === this.computed) return;
    const read = new NumberReader(heed.call('tape', [order, ...textNumbers(text)]));
    const error = read.text();
    if (error) throw new Error(error);
    this.nodes = read.list(() => {
      const node = {label: read.text(), operation: read.text(), rule: read.text(), leaf: read.one()};
      node.sizes = read.list(() => read.one());
      node.values = read.many(node.sizes.reduce((product, size) => product * size, 1));
      node.inputs = read.list(() => read.one());
      return node;
    });
    this.back = read.list(() => {
      const node = read.one(), gradient = read.many(this.nodes[node].values.length);
      return {node, gradient, parts: read.list(() => {
        const to = read.one();
        return {to, part: read.many(this.nodes[to].values.length)};
      })};
    });
    for (const node of this.nodes) if (node.leaf) node.difference = read.many(node.values.length);
    this.forward = range(this.nodes.length).filter(i => this.nodes[i].inputs.length);
    this.computed = key;
  }
  get last() { return this.forward.length + this.back.length; }
  // The gradients that have arrived after a step, as sums.
  gradientsAt(at) {
    const sums = new Map();
    this.back.slice(0, Math.max(0, at - this.forward.length)).forEach(({node, gradient, parts}, i) => {
      if (i === 0) sums.set(node, gradient);
      for (const {to, part} of parts) sums.set(to, part.map((value, k) => value + (sums.get(to)?.[k] ?? 0)));
    });
    return sums;
  }

  setup(stage) {
    this.computed = undefined;
    this.right = 0;
    this.text = html('input', {type: 'text', spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off',
                               'aria-label': this.word('text'), onchange: () => this.write(this.text.value)});
    const examples = Object.keys(tapeExamples).map(name =>
        button(this.word('example.' + name), () => this.write(tapeExamples[name])));
    this.picture = svg('svg', {class: 'plot graph', role: 'img'});
    this.step = html('p', {class: 'step'});
    this.leaves = html('div', {class: 'leaves'});
    stage.append(
        html('div', {class: 'row', role: 'group', 'aria-label': this.word('examples')}, this.word('examples'), examples),
        html('label', {class: 'wide'}, html('span', {}, this.word('text')), this.text),
        html('figure', {}, html('div', {class: 'scroll tall', tabindex: 0, role: 'region', 'aria-label': this.word('graph')},
                                this.picture)),
        this.step, this.player(), this.guessBox(),
        html('div', {class: 'controls'}, this.orderChoice(), html('div', {}, html('b', {}, this.word('leaves')), this.leaves)));
  }
  player() {
    this.place = slider({name: this.word('step'), min: 0, max: 1, step: 1, value: 0, text: String,
                         change: at => { this.pause(); this.change({at}); }});
    this.backButton = button(this.word('back'), () => this.go(-1));
    this.onButton = button(this.word('on'), () => this.go(1));
    this.playButton = button(this.word('play'), () => this.timer ? this.pause() : this.play(), {class: 'main'});
    return html('div', {class: 'reach'}, this.backButton, this.playButton, this.onButton, this.place.node);
  }
  orderChoice() {
    this.order = choice({name: this.word('order'), value: this.state.order, change: order => { this.pause(); this.change({order}); },
                         options: [[0, this.word('order.waits')], [1, this.word('order.early')]]});
    return this.order.node;
  }
  write(text) {
    this.pause();
    this.change({text: text.trim(), at: 0});
  }
  go(by) {
    this.pause();
    this.advance(by);
  }
  advance(by) {
    if (by > 0 && this.guessing.checked && !this.asking && this.soughtAt(this.state.at + 1)) return this.askGuess();
    this.endGuess();
    this.change({at: clamp(this.state.at + by, 0, this.last)});
  }
  play() {
    if (this.state.at >= this.last) this.change({at: 0});
    this.playButton.textContent = this.word('pause');
    const tick = () => {
      this.advance(1);
      if (this.state.at < this.last && !this.asking && !still.matches) this.timer = setTimeout(tick, 1100);
      else this.pause();
    };
    this.timer = setTimeout(tick, 100);
  }
  pause() {
    clearTimeout(this.timer);
    this.timer = 0;
    if (this.playButton) this.playButton.textContent = this.word('play');
  }

  // Guessing: the first part that the next step back sends.
  guessBox() {
    this.guessing = html('input', {type: 'checkbox', 'data-key': 'guessing', onchange: () => this.endGuess()});
    this.asked = html('p');
    this.answer = html('input', {type: 'text', inputmode: 'text', autocomplete: 'off', 'aria-label': this.word('answer'),
                                 onkeydown: event => { if (event.key === 'Enter') this.check(); }});
    this.told = html('p', {role: 'status'});
    this.asking = false;
    this.guessPart = html('div', {class: 'guess', hidden: true}, this.asked,
        html('div', {class: 'row'}, this.answer, button(this.word('check'), () => this.check()),
             button(this.word('hint'), () => { this.right = -1; this.told.textContent = this.rule(this.state.at + 1); }),
             button(this.word('reveal'), () => { this.right = 0; this.advance(1); })), this.told);
    this.praise = html('output', {});
    return html('div', {}, html('div', {class: 'row'}, html('label', {class: 'toggle'}, this.guessing,
        html('span', {}, this.word('guessing'))), this.praise), this.guessPart);
  }
  soughtAt(at) { return this.back[at - this.forward.length - 1]?.parts[0]; }
  askGuess() {
    const at = this.state.at + 1, {to} = this.soughtAt(at), {node, gradient} = this.back[at - this.forward.length - 1];
    this.asking = true;
    this.pause();
    this.guessPart.hidden = false;
    this.praise.textContent = '';
    this.asked.textContent = this.word('asks', {node: this.equation(node), g: this.inLine(gradient, node), to: this.nodes[to].label});
    this.told.textContent = this.answer.value = '';
    this.answer.focus({preventScroll: true});
    this.ask();
  }
  endGuess() {
    this.asking = false;
    this.guessPart.hidden = true;
    this.ask();
  }
  check() {
    if (!this.asking) return;
    const {part} = this.soughtAt(this.state.at + 1);
    const given = (this.answer.value.replaceAll('−', '-').match(/[-+]?(\d+\.?\d*|\.\d+)/g) ?? []).map(Number);
    if (given.length !== part.length) {
      this.told.textContent = this.word('counts', {n: part.length});
    } else if (given.every((value, i) => Math.abs(value - part[i]) <= Math.max(0.01 * Math.abs(part[i]), 5e-3))) {
      this.right = Math.max(this.right, 0) + 1;
      if (this.right >= 3) this.reach('three');
      this.advance(1);
      this.praise.textContent = this.word('correct', {n: this.right});
      this.onButton.focus({preventScroll: true});
    } else {
      this.right = 0;
      this.told.textContent = this.word('incorrect');
    }
  }

  inLine(values, node) {
    const {sizes} = this.nodes[node], rows = rowsOf(values, sizes);
    return sizes.length > 1 ? `[${rows.join(', ')}]` : rows[0];
  }
  equation(i) {
    const {label, operation, inputs} = this.nodes[i];
    return `${label} = ${operation}(${inputs.map(input => this.nodes[input].label).join(', ')})`;
  }
  rule(at) {
    const {node} = this.back[at - this.forward.length - 1];
    const values = [...new Set([...this.nodes[node].inputs, node])].filter(i => this.nodes[i].label)
        .map(i => `${this.nodes[i].label} = ${this.inLine(this.nodes[i].values, i)}`);
    return `${this.nodes[node].rule}; ${values.join(', ')}`;
  }
  // What happens at a step, in words.
  describe(at) {
    if (at === 0) return this.word('start');
    if (at <= this.forward.length) {
      const i = this.forward[at - 1];
      return `${this.word('forward')} ${this.equation(i)} = ${this.inLine(this.nodes[i].values, i)}`;
    }
    const {node, gradient, parts} = this.back[at - this.forward.length - 1];
    const sums = this.gradientsAt(at);
    const sent = parts.map(({to, part}) => this.word('sends', {to: this.nodes[to].label, part: this.inLine(part, to)})
        + (this.inLine(sums.get(to), to) === this.inLine(part, to) ? '' : this.word('sum', {sum: this.inLine(sums.get(to), to)})));
    return `${this.word('backward')} ${this.nodes[node].label}: g = ${this.inLine(gradient, node)}. ${this.nodes[node].rule}. ${sent.join('; ')}`;
  }

  see() {
    if (document.activeElement !== this.text) this.text.value = this.state.text;
    this.compute();
    const at = this.state.at = clamp(this.state.at, 0, this.last);
    this.place.input.max = this.last;
    this.place.show(at);
    this.place.node.querySelector('output').textContent = `${at} / ${this.last}`;
    this.backButton.disabled = at === 0;
    this.onButton.disabled = at === this.last;
    this.order.show(this.state.order);
    this.step.textContent = this.describe(at);
    this.drawGraph();
    this.showLeaves();
    this.judge();
    if (this.told_at !== at) this.line.say(this.describe(at));
    this.told_at = at;
  }
  drawGraph() {
    const {at} = this.state, sums = this.gradientsAt(at), total = this.gradientsAt(this.last);
    const step = at > this.forward.length ? this.back[at - this.forward.length - 1] : undefined;
    const now = step ? step.node : this.forward[at - 1];
    const cards = this.nodes.map((node, i) => {
      const named = node.label !== rowsOf(node.values, node.sizes)[0];
      const lines = [[node.inputs.length ? `${node.label} = ${node.operation}` : node.label, 'title'],
                     ...(named ? rowsOf(node.values, node.sizes).map(text => [text, 'value']) : []),
                     ...(total.has(i) ? rowsOf(sums.get(i) ?? total.get(i), node.sizes).map((text, r) =>
                         [(r ? '   ' : '∂ ') + text, sums.has(i) ? 'gradient' : 'waiting']) : [])];
      const letters = Math.max(...lines.map(([text]) => widthOf(text)), 30);
      return {lines, inputs: node.inputs, width: letters * 7.3 / 7 + 16, height: lines.length * 17 + 10};
    });
    const room = this.picture.parentElement.clientWidth;
    const wide = layoutOf(cards, false), down = wide.width + 20 > room, drawn = down ? layoutOf(cards, true) : wide;
    const width = drawn.width + 20, height = drawn.height + 20;
    fill(this.picture, {width, height, viewBox: `-10 -10 ${width} ${height}`, 'aria-label': this.describe(at)}, []);
    const done = new Set(this.forward.slice(0, at)), sent = new Set(), sending = new Set();
    this.back.slice(0, Math.max(0, at - this.forward.length)).forEach(({node, parts}) =>
        parts.forEach(({to}) => sent.add(`${to} ${node}`)));
    step?.parts.forEach(({to}) => sending.add(`${to} ${step.node}`));
    const ahead = i => this.nodes[i].inputs.length && !done.has(i);
    this.picture.replaceChildren(
        ...drawn.edges.map(edge => {
          const key = `${edge.from} ${edge.to}`, turned = sent.has(key), isNow = sending.has(key) || (!step && edge.to === now);
          return drawEdge(edge, down, {turned, name: [turned && 'turned', isNow && 'now', ahead(edge.to) && 'ahead'].filter(Boolean).join(' ')});
        }),
        ...cards.map((card, i) => this.drawCard(card, drawn.places[i],
            [i === now && 'now', step && 'backward', ahead(i) && 'ahead', this.nodes[i].leaf && 'leaf'].filter(Boolean).join(' '))));
  }
  drawCard({lines, width, height}, [x, y], name) {
    return svg('g', {class: `card ${name}`, transform: `translate(${x - width / 2} ${y - height / 2})`},
               svg('rect', {width, height, rx: 6}),
               lines.map(([text, kind], i) => svg('text', {class: kind, x: 8, y: 19 + i * 17}, text)));
  }

  // A slider for each number of each leaf; its gradient beside the finite difference.
  showLeaves() {
    const statements = statementsOf(this.state.text), complete = this.gradientsAt(this.last);
    const shape = statements.filter(one => one.value !== undefined).map(one => one.name + JSON.stringify(one.value).replace(/[-\d.e]+/g, '0')).join();
    if (shape !== this.leafShape || !this.leaves.childElementCount) this.makeLeaves(statements);
    this.leafShape = shape;
    for (const {name, k, row, told} of this.leafRows) {
      const node = this.nodes.findIndex(one => one.leaf && one.label === name);
      if (node < 0) continue;
      const gradient = complete.get(node)?.[k] ?? 0, difference = this.nodes[node].difference[k];
      const near = Math.abs(gradient - difference) <= 0.01 * Math.max(1, Math.abs(difference));
      row.show(this.nodes[node].values[k]);
      told.classList.toggle('differs', !near);
      told.textContent = `∂ ${short(gradient)} ${near ? '≈' : '≠'} ${short(difference)} ${near ? '✓' : '✗'}`;
    }
  }
  makeLeaves(statements) {
    this.leafRows = statements.filter(one => one.value !== undefined).flatMap(({name, value}) => {
      const values = [value].flat(3), scalar = !Array.isArray(value);
      return values.slice(0, 12).map((one, k) => {
        const row = slider({name: scalar ? name : `${name}[${k}]`, min: -5, max: 5, step: 0.05, value: one, text: number => fixed(number),
                            change: number => this.setLeaf(name, k, number)});
        return {name, k, row, told: html('span', {class: 'told'})};
      });
    });
    this.leaves.replaceChildren(...this.leafRows.map(({row, told}) => html('div', {class: 'leaf'}, row.node, told)),
                                html('p', {class: 'soft'}, this.word('differences')));
  }
  setLeaf(name, k, number) {
    const statements = statementsOf(this.state.text), leaf = statements.find(one => one.name === name);
    let next = 0;
    const replaced = value => Array.isArray(value) ? value.map(replaced) : next++ === k ? number : value;
    leaf.value = replaced(leaf.value);
    this.change({text: programOf(statements)});
  }

  judge() {
    const {at, order, text} = this.state;
    if (at === this.last) (this.orders ??= new Set()).add(order);
    if (this.orders?.size === 2) this.answered();
    const complete = this.gradientsAt(this.last), leaf = name => this.nodes.findIndex(one => one.leaf && one.label === name);
    const gradient = name => complete.get(leaf(name))?.[0];
    if (order === 0 && text.endsWith(tapeExamples.twice.slice(6)) && Math.abs(gradient('x') - 1) < 0.05) this.reach('one');
    if (text.endsWith('tanh(w * x + b)') && Math.abs(gradient('w')) < 1e-3 && Math.abs(this.nodes[leaf('x')].values[0]) > 0.5) this.reach('flat');
  }
  table() {
    const complete = this.gradientsAt(this.last);
    return [[this.word('node'), this.word('operation'), this.word('value'), this.word('gradient'), this.word('difference')],
            this.nodes.map((node, i) => [node.label, node.operation, this.inLine(node.values, i),
                                         complete.has(i) ? this.inLine(complete.get(i), i) : '',
                                         node.difference ? this.inLine(node.difference, i) : ''])];
  }
  program() {
    const statements = statementsOf(this.state.text), result = statements.at(-1).name;
    const cpp = ({name, expression, value}) => value === undefined
        ? `const Tensor ${name} = ${expression.replace(/softmax\(([^()]*)\)/g, 'softmax($1, -1)')};`
        : `const Tensor ${name} = tensor(${listText(value).replaceAll('[', '{').replaceAll(']', '}')}).requires_grad_();`;
    return `// tape.cpp: ${this.word('title')}
#include <heed.h>
#include <heed/view.h>

#include <iostream>
using namespace heed;

int main() {
  Tape tape;
${statements.map(one => '  ' + cpp(one)).join('\n')}
  ${result}.backward();
${statements.map(({name}) => `  tape.name("${name}", ${name});`).join('\n')}
  std::cout << tape_text(tape);
}
`;
  }
});
