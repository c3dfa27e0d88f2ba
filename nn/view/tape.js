'use strict';
const $ = id => document.getElementById(id);
const steps = JSON.parse($('data').textContent);
const nodes = [...document.querySelectorAll('.node')], edges = [...document.querySelectorAll('.edge')];
const linesOf = (node, kind) => [...node.querySelectorAll('.' + kind)];

// From when on a box is there: a number has no step, and comes with what is computed from it.
const born = nodes.map(() => steps.length);
steps.forEach(({node, inputs}, i) => {
  for (const one of [node, ...inputs ?? []]) born[one] = Math.min(born[one], i);
});

function show(at) {
  const {node, inputs, gradients, text} = steps[at];
  const rows = new Map();  // of the gradients so far
  for (const step of steps.slice(0, at + 1))
    for (const change of step.gradients ?? []) rows.set(change.node, change.rows);
  nodes.forEach((box, i) => {
    box.classList.toggle('ahead', born[i] > at);
    box.classList.toggle('now', i === node);
    box.classList.toggle('backward', !inputs);
    for (const line of linesOf(box, 'value')) line.style.visibility = born[i] > at ? 'hidden' : '';
    linesOf(box, 'gradient').forEach((line, k) => {
      const row = rows.get(i)?.[k] ?? '';
      line.textContent = row && k === 0 ? '∂ ' + row : row;
    });
  });
  const along = new Set((gradients ?? []).map(change => change.edge));
  edges.forEach((edge, i) => {
    const to = +edge.dataset.to;
    edge.classList.toggle('ahead', born[to] > at);
    edge.classList.toggle('now', inputs ? to === node : along.has(i));
    edge.classList.toggle('backward', !inputs);
  });
  $('text').textContent = text;
  $('place').textContent = `${inputs ? 'forward' : 'backward'} ${at + 1} / ${steps.length}`;
  $('step').value = at;
  const box = nodes[node].getBoundingClientRect(), frame = $('graph').getBoundingClientRect();
  const away = (from, to, least, most) => from < least || to > most ? (from + to - least - most) / 2 : 0;
  $('graph').scrollBy(away(box.left, box.right, frame.left, frame.right),
                      away(box.top, box.bottom, frame.top, frame.bottom));
}

if (steps.length) {
  $('step').max = steps.length - 1;
  const move = by => show(Math.max(0, Math.min(steps.length - 1, +$('step').value + by)));
  $('step').oninput = () => show(+$('step').value);
  $('back').onclick = () => move(-1);
  $('on').onclick = () => move(1);
  document.addEventListener('keydown', event => {
    const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!by || event.target.id === 'step') return;
    event.preventDefault();
    move(by);
  });
  show(0);
}
