'use strict';
const $ = id => document.getElementById(id);
const words = {
  en: {
    title: 'Step by step', graph: 'The graph', step: 'Step', back: 'Back', on: 'Next', play: 'Play', pause: 'Pause',
    guess: 'Guess the next gradient', check: 'Check', hint: 'Hint', reveal: 'Show it',
    forward: 'forward', backward: 'backward', kinds: {leaf: 'leaf', constant: 'constant'},
    broadcast: ', summed over broadcast dimensions',
    gets: (node, part) => `${node} gets ${part}`, sum: sum => `, sum ${sum}`,
    where: (module, line) => [module && `in ${module}`, line && `at ${line}`].filter(Boolean).join(', '),
    asks: (result, g, to) => `Next, the rule of ${result} runs with g = ${g}. What does it send to ${to}?`,
    counts: n => n === 1 ? 'Give one number.' : `Give ${n} numbers, separated by commas or spaces.`,
    right: 'Right.', wrong: 'Not yet. Try again, take the hint, or show it.',
    score: (right, asked) => `right at once: ${right} of ${asked}`,
  },
  zh: {
    title: '逐步计算', graph: '计算图', step: '步', back: '上一步', on: '下一步', play: '播放', pause: '暂停',
    guess: '猜下一个梯度', check: '检查', hint: '提示', reveal: '显示答案',
    forward: '前向', backward: '反向', kinds: {leaf: '叶节点', constant: '常量'},
    broadcast: '（已在广播的维度上求和）',
    gets: (node, part) => `${node} 得到 ${part}`, sum: sum => `，累计 ${sum}`,
    where: (module, line) => [module && `模块 ${module}`, line].filter(Boolean).join('，'),
    asks: (result, g, to) => `下一步，以 g = ${g} 执行 ${result} 的梯度规则。它传给 ${to} 的梯度是多少？`,
    counts: n => n === 1 ? '请填一个数。' : `请填 ${n} 个数，用逗号或空格分开。`,
    right: '正确。', wrong: '还不对。再试一次，或看提示、看答案。',
    score: (right, asked) => `一次答对 ${right} / ${asked}`,
  },
}[document.documentElement.lang.startsWith('zh') ? 'zh' : 'en'];
for (const node of document.querySelectorAll('[data-word]')) node.textContent = words[node.dataset.word];
if (!document.title) document.title = document.querySelector('h1').textContent = words.title;
$('graph').setAttribute('aria-label', words.graph);
$('step').setAttribute('aria-label', words.step);

const {nodes, steps} = JSON.parse($('data').textContent);
const boxes = [...document.querySelectorAll('.node')], edges = [...document.querySelectorAll('.edge')];
const picture = document.querySelector('#graph svg'), last = steps.length - 1;
picture.style.minWidth = picture.width.baseVal.value * 10 / 11.25 + 'px';  // its smallest letters have 10 pixels
let at = 0;            // the step that is shown
let question = null;   // the step that is asked about, while it is
let timer = 0;         // while the page plays
const asked = new Map();  // for each step that was asked about, whether the first answer was right

const labelOf = i => nodes[i].label;
const isForward = step => step.gradient === undefined;
// From when on a box is there: a number has no step, and comes with what is computed from it.
const born = nodes.map(() => steps.length);
steps.forEach((step, i) => {
  for (const one of [step.node, ...isForward(step) ? nodes[step.node].inputs : []]) born[one] = Math.min(born[one], i);
});

const callOf = ({operation, inputs}) => `${operation}(${inputs.map(labelOf).join(', ')})`;
const ruleOf = ({operation, rule}) => rule ? `${operation}: ${rule}` : operation;
// The lines of a step: what happens, then where.
function describe(step) {
  const node = nodes[step.node], {label, value, module, line} = node;
  const where = words.where(module, line);
  if (isForward(step)) {
    return node.inputs.length ? [`${label} = ${callOf(node)} = ${value}`, where]
                              : [`${label} = ${value}`, words.kinds[node.operation] ?? node.operation];
  }
  const parts = step.parts.map(({node: to, part, sum, broadcast}) =>
      words.gets(labelOf(to), part) + (broadcast ? words.broadcast : '') + (sum === part ? '' : words.sum(sum)));
  return [[`${label}: g = ${step.gradient}`, ruleOf(node), ...parts].join('\n'), where];
}

function show(i) {
  at = i;
  ask(null);
  const step = steps[at], forward = isForward(step), now = new Set(), back = new Set();
  const gradients = new Map();  // the rows of the gradients so far
  steps.slice(0, at + 1).forEach((one, i) => {
    if (isForward(one)) return;
    gradients.set(one.node, one.rows);
    for (const part of one.parts) {
      gradients.set(part.node, part.rows);
      if (one.pass === step.pass) back.add(part.edge);
      if (i === at) now.add(part.edge);
    }
  });
  boxes.forEach((box, i) => {
    box.classList.toggle('ahead', born[i] > at);
    box.classList.toggle('now', i === step.node);
    box.classList.toggle('backward', !forward);
    box.querySelectorAll('.gradient').forEach((line, k) => {
      const row = gradients.get(i)?.[k] ?? '';
      line.textContent = row && k === 0 ? '∂ ' + row : row;
    });
  });
  edges.forEach((edge, i) => {
    const to = +edge.dataset.to;
    edge.classList.toggle('ahead', born[to] > at);
    edge.classList.toggle('now', forward ? to === step.node : now.has(i));
    edge.classList.toggle('backward', back.has(i));
  });
  const [what, where] = describe(step), head = document.createElement('b'), foot = document.createElement('span');
  head.textContent = labelOf(step.node);
  foot.textContent = where;
  foot.className = 'where';
  $('text').replaceChildren(head, what.slice(head.textContent.length) + '\n', foot);
  $('place').textContent = `${forward ? words.forward : words.backward} ${at + 1} / ${steps.length}`;
  $('step').value = at;
  $('back').disabled = at === 0;
  $('on').disabled = at === last;
  follow(boxes[step.node]);
}

// Scrolls the graph, and nothing around it, to a box that is outside.
function follow(box) {
  const inner = box.getBoundingClientRect(), frame = $('graph').getBoundingClientRect();
  const away = (from, to, least, most) => from < least || to > most ? (from + to - least - most) / 2 : 0;
  $('graph').scrollBy(away(inner.left, inner.right, frame.left, frame.right),
                      away(inner.top, inner.bottom, frame.top, frame.bottom));
}

// One step on; in guessing mode, its question comes first. Without an answer, the second time shows it.
function next() {
  if ($('guess').checked && question === null && !asked.has(at + 1) && soughtIn(steps[at + 1])) return ask(at + 1);
  if (question !== null && !asked.has(question)) asked.set(question, false);
  show(at + 1);
}

const numbersIn = text =>
    (text.replaceAll('−', '-').match(/[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?/gi) ?? []).map(Number);
// The first gradient of a step that is written in numbers: large tensors are not.
const soughtIn = step => step?.parts?.find(({part}) => /^[-+\d.e,\s[\]]+$/.test(part));
const isClose = (guess, value) => Math.abs(guess - value) <= Math.max(.01 * Math.abs(value), 1e-3);

function ask(step) {
  question = step;
  $('question').hidden = step === null;
  for (const marked of document.querySelectorAll('.asked')) marked.classList.remove('asked');
  if (step === null) return tellScore();
  const {node, gradient} = steps[step], sought = soughtIn(steps[step]);
  $('asked').textContent = words.asks(`${labelOf(node)} = ${callOf(nodes[node])}`, gradient, labelOf(sought.node));
  $('verdict').textContent = $('answer').value = '';
  boxes[node].classList.add('asked');
  edges[sought.edge]?.classList.add('asked');
  follow(boxes[node]);
  $('answer').focus({preventScroll: true});
}

function check() {
  const values = numbersIn(soughtIn(steps[question]).part), guesses = numbersIn($('answer').value);
  if (guesses.length !== values.length) return $('verdict').textContent = words.counts(values.length);
  const right = values.every((value, i) => isClose(guesses[i], value));
  if (!asked.has(question)) asked.set(question, right);
  if (!right) {
    tellScore();
    return $('verdict').textContent = words.wrong;
  }
  show(question);
  $('text').prepend(words.right + ' ');
  $('on').focus({preventScroll: true});
}

function hint() {
  const {node, gradient} = steps[question], inputs = [...new Set(nodes[node].inputs)];
  const values = inputs.filter(i => labelOf(i) !== nodes[i].value).map(i => `${labelOf(i)} = ${nodes[i].value}`);
  $('verdict').textContent = [ruleOf(nodes[node]),
      [`g = ${gradient}`, ...values, `${labelOf(node)} = ${nodes[node].value}`].join(', ')].join('\n');
}

function tellScore() {
  const right = [...asked.values()].filter(Boolean).length;
  $('score').textContent = asked.size ? words.score(right, asked.size) : '';
}

function play(on) {
  clearTimeout(timer);
  timer = on ? setTimeout(() => {
    next();
    play(question === null && at < last);
  }, 1500) : 0;
  $('play').textContent = on ? words.pause : words.play;
}

if (steps.length) {
  $('step').max = last;
  const move = by => {
    play(false);
    if (by > 0 && at < last) next();
    if (by < 0 && at > 0) show(at - (question === null ? 1 : 0));
  };
  $('step').oninput = () => {
    play(false);
    show(+$('step').value);
  };
  $('back').onclick = () => move(-1);
  $('on').onclick = () => move(1);
  $('play').onclick = () => {
    if (!timer && at === last) show(0);
    play(!timer);
  };
  $('guess').onchange = () => ask(null);
  $('check').onclick = check;
  $('hint').onclick = hint;
  $('reveal').onclick = next;
  document.addEventListener('keydown', event => {
    const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (event.target.id === 'answer' && event.key === 'Enter') {
      event.preventDefault();  // or it would press the button that has the focus next
      return check();
    }
    if (!by || event.target.tagName === 'INPUT') return;
    event.preventDefault();
    move(by);
  });
  show(0);
}
