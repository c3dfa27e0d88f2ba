'use strict';
const $ = id => document.getElementById(id);
const maps = JSON.parse($('data').textContent);
const within = (i, list) => Math.max(0, Math.min(i, list.length - 1));
const state = {map: 0, head: -1, query: 0, key: 0, only: false};  // head -1: the mean of all
let weights = [];  // [Tq][Tk], of the map and head that are shown
let rowAt;         // where a query is in the heat map

const svgNames = new Set(['svg', 'g', 'rect', 'line', 'text']);
function make(name, attributes = {}, ...children) {
  const node = svgNames.has(name) ? document.createElementNS('http://www.w3.org/2000/svg', name)
                                  : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);  // strings become text, never markup
  return node;
}
const language = token => /[\u3040-\u30ff]/.test(token) ? 'ja' : /\p{Script=Han}/u.test(token) ? 'zh' : '';
const tokenNode = (name, token, attributes) => make(name, {lang: language(token), ...attributes}, token);
const short = token => [...token].length > 14 ? [...token].slice(0, 13).join('') + '…' : token;
const emsOf = token => [...short(token)].reduce((sum, c) => sum + (c > '\u2e7f' ? 1 : .6), 0);
const widest = tokens => Math.max(1, ...tokens.map(emsOf));
const label = (token, attributes) => tokenNode('text', short(token), attributes);

// The weights of one head, or the mean of all; the file has them as multiples of 1/10000.
function weightsOf({queries, keys, weights: heads}, head) {
  const chosen = head < 0 ? heads : [heads[head]];
  const mean = i => chosen.reduce((sum, one) => sum + (one[i] ?? NaN), 0) / chosen.length / 1e4;
  return queries.map((_, q) => keys.map((_, k) => mean(q * keys.length + k)));
}
const opacity = weight => Math.min(Math.max(weight || 0, 0), 1).toFixed(3);
const nameOf = map => map.module || 'attention';
const isOwn = map => map.queries.length === map.keys.length && map.queries.every((q, i) => q === map.keys[i]);

function drawSentence() {
  const map = maps[state.map], own = isOwn(map), {query} = state;
  const picked = i => ({'data-pick': i, ...(i === query && {class: 'now', 'aria-current': true})});
  const pick = (token, i) => tokenNode('span', token, picked(i));
  const key = (token, i) => tokenNode('span', token, {
    'data-query': query, 'data-key': i, style: `--weight: ${opacity(weights[query]?.[i])}`,
    ...(own && picked(i))});
  const queries = own ? [] : [make('div', {}, ...map.queries.map(pick))];
  $('sentence').replaceChildren(...queries, make('div', {}, ...map.keys.map(key)));
}

const picture = (name, width, height, letters) => make('svg', {
  viewBox: `0 0 ${width} ${height}`, width, 'font-size': letters, tabindex: 0, role: 'img', 'aria-label': name});

function drawHeat() {
  const {queries, keys} = maps[state.map];
  // Of more than 128 tokens several share a cell, which shows their largest weight.
  const each = Math.ceil(Math.max(queries.length, keys.length) / 128) || 1;
  const rows = Math.ceil(queries.length / each), columns = Math.ceil(keys.length / each);
  const cell = Math.max(4, Math.min(32, Math.floor(560 / Math.max(rows, columns, 1))));
  const size = each === 1 && cell > 8 ? Math.min(14, cell * .75) : 0;
  const left = size ? widest(queries) * size + 10 : 4, slant = size ? widest(keys) * size * .72 + 8 : 4;
  const width = columns * cell, height = rows * cell, top = slant + size * .5;
  const svg = picture('Heat map', left + width + slant, top + height + 4, size);
  svg.append(make('rect', {class: 'frame', x: left, y: top, width, height}));
  rowAt = query => top + Math.floor(query / each) * cell;
  const cells = [];
  weights.forEach((row, query) => row.forEach((weight, key) => {
    const column = Math.floor(key / each), at = Math.floor(query / each) * columns + column;
    if (!cells[at] || weight > cells[at].weight) cells[at] = {weight, query, key, x: left + column * cell};
  }));
  for (const {weight, query, key, x} of cells)
    svg.append(make('rect', {x, y: rowAt(query), width: cell, height: cell,
                             'fill-opacity': opacity(weight), 'data-query': query, 'data-key': key}));
  if (size) {
    queries.forEach((token, q) => svg.append(label(token,
        {x: left - 6, y: rowAt(q) + cell / 2 + size * .35, 'text-anchor': 'end', 'data-row': q})));
    keys.forEach((token, k) => svg.append(label(token,
        {transform: `translate(${left + (k + .5) * cell + size * .3} ${top - 5}) rotate(-45)`})));
  }
  svg.append(make('rect', {class: 'row', x: left, width, height: cell}));
  $('heat').replaceChildren(svg);
}

function drawLines() {
  const {queries, keys} = maps[state.map], step = 24, size = 14;
  const left = widest(queries) * size + 14, right = left + 220;
  const width = right + widest(keys) * size + 14, height = step * Math.max(queries.length, keys.length) + 8;
  const svg = picture('Lines between tokens', width, height, size);
  const middle = i => step * (i + .5) + 4;
  queries.forEach((token, q) => {
    const line = (weight, k) => make('line', {
      x1: left, y1: middle(q), x2: right, y2: middle(k), 'stroke-opacity': opacity(weight),
      'data-query': q, 'data-key': k});
    const lines = weights[q].flatMap((weight, k) => weight >= .01 ? line(weight, k) : []);
    svg.append(make('g', {'data-from': q}, ...lines), label(token,
        {x: left - 8, y: middle(q) + 5, 'text-anchor': 'end', 'data-only': q, 'data-row': q}));
  });
  keys.forEach((token, k) => svg.append(label(token, {x: right + 8, y: middle(k) + 5, 'data-key': k})));
  $('lines').replaceChildren(svg);
}

// Redraws what depends on the current token alone.
function markQuery() {
  drawSentence();
  $('heat').querySelector('.row').setAttribute('y', rowAt(state.query));
  for (const label of document.querySelectorAll('[data-row]'))
    label.classList.toggle('now', +label.dataset.row === state.query);
  for (const group of $('lines').querySelectorAll('g'))
    group.style.display = state.only && +group.dataset.from !== state.query ? 'none' : '';
}

// Fills a select: the text and value of each option, and the value that is chosen.
function offer(id, options, value) {
  $(id).replaceChildren(...options.map(option => new Option(...option)));
  $(id).value = value;
}

function fillChoices() {
  const here = maps[state.map], same = maps.filter(map => map.module === here.module);
  const firsts = maps.filter(map => map === maps.find(other => other.module === map.module));
  offer('layer', firsts.map(map => [nameOf(map), maps.indexOf(map)]), maps.indexOf(same[0]));
  offer('step', same.map(map => [map.step, maps.indexOf(map)]), state.map);
  $('steps').hidden = same.length < 2;
  const heads = here.weights.map((_, head) => [head, head]);
  if (heads.length > 1) heads.unshift(['mean', -1]);
  offer('head', heads, heads.length > 1 ? state.head : 0);
  for (const button of document.querySelectorAll('button'))
    button.setAttribute('aria-pressed',
                        +button.dataset.map === state.map && +button.dataset.head === state.head);
}

function choose(map, head) {
  const chosen = maps[map];
  head = Math.min(head, chosen.weights.length - 1);
  Object.assign(state, {map: +map, head, query: within(state.query, chosen.queries), key: 0, only: false});
  weights = weightsOf(chosen, head);
  tip();
  fillChoices();
  drawHeat();
  drawLines();
  markQuery();
}

// The number behind a picture's part, above it; without one, none.
function tip(target, query = state.query, key = state.key) {
  if (!target) return $('tip').replaceChildren();
  const {queries, keys} = maps[state.map], box = target.getBoundingClientRect();
  $('tip').replaceChildren(`${queries[query]} → ${keys[key]}: ${weights[query][key].toFixed(4)}`);
  Object.assign($('tip').style, {left: box.x + box.width / 2 + 'px', top: box.y + 'px'});
}

function only(query, alone) {
  if (state.query === query && state.only === alone) return;
  Object.assign(state, {query, only: alone});
  markQuery();
}

document.addEventListener('pointerover', ({target}) => {
  const {key, query, only: lines} = target.dataset ?? {};
  if (lines !== undefined) only(+lines, true);
  else if (state.only && !target.closest('#lines g')) only(state.query, false);
  key === undefined ? tip() : tip(target, +(query ?? state.query), +key);
});
document.addEventListener('click', ({target}) => {
  const button = target.closest('button'), {pick, query} = target.dataset;
  if (button) choose(button.dataset.map, button.dataset.head);
  else if (pick ?? query) only(+(pick ?? query), false);
});
document.addEventListener('keydown', event => {
  const move = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
  const picture = event.target.closest('#sentence, #heat, #lines');
  if (!move || !picture) return;
  event.preventDefault();
  const {queries, keys} = maps[state.map];
  state.key = within(state.key + move[1], keys);
  only(within(state.query + move[0], queries), picture.id === 'lines');
  tip(picture.querySelector(`[data-query="${state.query}"][data-key="${state.key}"]`) ?? event.target);
});
document.addEventListener('focusout', () => { tip(); only(state.query, false); });
document.addEventListener('scroll', () => tip(), {passive: true});
$('layer').onchange = $('step').onchange = event => choose(event.target.value, state.head);
$('head').onchange = event => choose(state.map, event.target.value);

// A small picture of one head, a pixel for each weight.
function small({queries, keys}, head) {
  const image = new ImageData(keys.length || 1, queries.length || 1);
  head.forEach((weight, i) => image.data.set([59, 134, 224, 255 * weight / 1e4], 4 * i));
  const canvas = make('canvas', {width: image.width, height: image.height});
  canvas.getContext('2d').putImageData(image, 0, 0);
  return canvas;
}
maps.forEach((map, m) => {
  const name = nameOf(map) + (map.step ? `, step ${map.step}` : '');
  const heads = map.weights.map((head, h) => make('button',
      {title: `${name}, head ${h}`, 'data-map': m, 'data-head': h}, small(map, head)));
  $('overview').append(make('div', {class: 'faint'}, name), make('div', {class: 'heads'}, ...heads));
});
if (maps.length) choose(0, maps[0].weights.length > 1 ? -1 : 0);
