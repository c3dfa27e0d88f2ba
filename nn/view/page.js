'use strict';
const $ = id => document.getElementById(id);
const maps = JSON.parse($('data').textContent);
const within = (i, list) => Math.max(0, Math.min(i, list.length - 1));
const state = {map: 0, head: -1, query: 0, key: 0, only: false, most: 1};  // head -1: the mean of all; most: the end of the scale
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
const widthOf = text => [...text].reduce((sum, c) => sum + (c > '\u2e7f' ? 1 : .6), 0);  // in ems
// At most `ems` of a token, a cut marked.
function short(token, ems = 9) {
  const characters = [...token];
  if (widthOf(token) <= ems) return token;
  while (widthOf(characters.join('')) > ems - 1) characters.pop();
  return characters.join('') + '…';
}
const emsOf = (tokens, ems) => Math.max(1, ...tokens.map(token => widthOf(short(token, ems))));
const label = (token, attributes, ems) => tokenNode('text', short(token, ems), attributes);

// The weights of one head, or the mean of all; the file has them as multiples of 1/10000.
function weightsOf({queries, keys, weights: heads}, head) {
  const chosen = head < 0 ? heads : [heads[head]];
  const mean = i => chosen.reduce((sum, one) => sum + (one[i] ?? NaN), 0) / chosen.length / 1e4;
  return queries.map((_, q) => keys.map((_, k) => mean(q * keys.length + k)));
}
// The share of the scale: of 1, or of the largest weight that is shown.
const share = weight => Math.min(Math.max(weight || 0, 0) / state.most, 1);
const opacity = weight => share(weight).toFixed(3);
// The palette of the heat maps, which look.css has for light and dark.
let palette;
function readPalette() {
  const style = getComputedStyle(document.documentElement);
  palette = ['--none', '--half', '--all'].map(name =>
      style.getPropertyValue(name).match(/[0-9a-f]{2}/g).map(part => parseInt(part, 16)));
}
function colour(part) {  // in 256 steps
  const place = Math.round(255 * part) / 127.5, [low, high] = palette.slice(place < 1 ? 0 : 1);
  return low.map((value, i) => Math.round(value + (place - (place < 1 ? 0 : 1)) * (high[i] - value)));
}
// Black or white, whichever is read better on it.
const inkOn = ([r, g, b]) => .299 * r + .587 * g + .114 * b < 140 ? 'light' : 'dark';
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

// A label in a column that is narrower than it. Chinese characters stand upright, one below the other.
function upwards(token, x, y, size) {
  const characters = [...token].reverse();
  if (!characters.some(c => c > '\u2e7f'))
    return [label(token, {transform: `translate(${x + size * .35} ${y}) rotate(-90)`})];
  return characters.map((c, i) => label(c, {x, y: y - i * size, 'text-anchor': 'middle'}));
}

function drawHeat() {
  const {queries, keys} = maps[state.map];
  // Of more than 128 tokens several share a cell, which shows their largest weight.
  const each = Math.ceil(Math.max(queries.length, keys.length) / 128) || 1;
  const rows = Math.ceil(queries.length / each), columns = Math.ceil(keys.length / each);
  // As large as the window allows; labels where 10 pixels are left for them, upright where they fit.
  const room = $('heat').parentElement.parentElement.clientWidth - 4, tall = Math.max(innerHeight - 140, 240);
  const fit = (space, count, most) => Math.floor(Math.max(Math.min(space / Math.max(count, 1), most), 3));
  const letters = Math.min(room / columns, tall / rows) >= 12 && each === 1 ? 13 : 0;
  const most = Math.min(9, room / 4 / 13), left = letters ? emsOf(queries, most) * letters + 10 : 4;
  const wide = fit(room - left, columns, 160), upright = emsOf(keys, 9) * letters + 4 <= wide;
  const size = letters && Math.max(10, Math.min(letters, wide - 2)), top = !size ? 4 : upright ? 20 : emsOf(keys, 9) * size + 12;
  const high = Math.min(fit(tall - top, rows, 96), Math.max(wide * 1.5, 16)), across = Math.min(wide, high * 1.8), width = columns * across, height = rows * high;
  const svg = picture('Heat map', left + width + 4, top + height + 4, size);
  svg.append(make('rect', {class: 'frame', x: left, y: top, width, height}));
  rowAt = query => top + Math.floor(query / each) * high;
  const cells = [];
  weights.forEach((row, query) => row.forEach((weight, key) => {
    const column = Math.floor(key / each), at = Math.floor(query / each) * columns + column;
    if (!cells[at] || weight > cells[at].weight) cells[at] = {weight, query, key, x: left + column * across};
  }));
  for (const {weight, query, key, x} of cells) {
    const shade = colour(share(weight));
    svg.append(make('rect', {x, y: rowAt(query), width: across, height: high, fill: `rgb(${shade})`,
                             'data-query': query, 'data-key': key}));
    if (each === 1 && across >= 30 && high >= 16)
      svg.append(make('text', {class: 'number ' + inkOn(shade), x: x + across / 2, y: rowAt(query) + high / 2 + 4,
                               'font-size': Math.min(15, Math.max(11, across / 5)), 'text-anchor': 'middle'}, weight.toFixed(2)));
  }
  if (size) {
    queries.forEach((token, q) => svg.append(label(token,
        {x: left - 6, y: rowAt(q) + high / 2 + size * .35, 'text-anchor': 'end', 'data-row': q}, most)));
    keys.forEach((token, k) => {
      const x = left + (k + .5) * across, y = top - 5;
      svg.append(...(upright ? [label(token, {x, y, 'text-anchor': 'middle'})] : upwards(short(token), x, y, size)));
    });
  }
  svg.append(make('rect', {class: 'row', x: left, width, height: high}));
  $('heat').replaceChildren(svg);
}

function drawLines() {
  const {queries, keys} = maps[state.map], step = 24, size = 14;
  const room = $('lines').parentElement.parentElement.clientWidth - 4, most = Math.min(14, (room - 90) / 2 / size);
  const left = emsOf(queries, most) * size + 14, right = emsOf(keys, most) * size + 14;
  const gap = Math.max(50, Math.min(220, room - left - right)), end = left + gap;
  const svg = picture('Lines between tokens', end + right, step * Math.max(queries.length, keys.length) + 8, size);
  const middle = i => step * (i + .5) + 4;
  queries.forEach((token, q) => {
    const line = (weight, k) => make('line', {
      x1: left, y1: middle(q), x2: end, y2: middle(k), 'stroke-opacity': opacity(weight),
      'data-query': q, 'data-key': k});
    const lines = weights[q].flatMap((weight, k) => share(weight) >= .01 ? line(weight, k) : []);
    svg.append(make('g', {'data-from': q}, ...lines), label(token,
        {x: left - 8, y: middle(q) + 5, 'text-anchor': 'end', 'data-only': q, 'data-row': q}, most));
  });
  keys.forEach((token, k) => svg.append(label(token, {x: end + 8, y: middle(k) + 5, 'data-key': k}, most)));
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

// Fills a select, which is not there for a single option: the text and value of each, and the value that is chosen.
function offer(id, options, value) {
  $(id).replaceChildren(...options.map(option => new Option(...option)));
  $(id).value = value;
  $(id).parentElement.hidden = options.length < 2;
}
// The first map of each kind, as options.
const firstOf = (list, kind, name) => list.filter((map, i) => list.findIndex(other => kind(other) === kind(map)) === i)
    .map(map => [name(map), maps.indexOf(map)]);

function fillChoices() {
  const here = maps[state.map], sentence = maps.filter(map => map.sentence === here.sentence);
  const same = sentence.filter(map => map.module === here.module);
  offer('sentences', firstOf(maps, map => map.sentence, map => map.sentence || 'without a name'), maps.indexOf(sentence[0]));
  offer('layer', firstOf(sentence, map => map.module, nameOf), maps.indexOf(same[0]));
  offer('step', same.map(map => [map.step, maps.indexOf(map)]), state.map);
  const heads = here.weights.map((_, head) => [head + 1, head]);
  if (heads.length > 1) heads.unshift(['mean', -1]);
  offer('head', heads, heads.length > 1 ? state.head : 0);
  for (const button of document.querySelectorAll('button'))
    button.setAttribute('aria-pressed',
                        +button.dataset.map === state.map && +button.dataset.head === state.head);
}

function draw() {
  state.most = $('contrast').checked ? Math.max(1e-4, ...weights.flat().filter(isFinite)) : 1;
  $('largest').replaceChildren($('contrast').checked ? state.most.toFixed(2) : '1');
  drawHeat();
  drawLines();
  markQuery();
}

function choose(map, head) {
  const chosen = maps[map], before = maps[state.map].sentence;
  head = Math.min(head, chosen.weights.length - 1);
  Object.assign(state, {map: +map, head, query: within(state.query, chosen.queries), key: 0, only: false});
  weights = weightsOf(chosen, head);
  tip();
  if (chosen.sentence !== before || !$('overview').firstChild) drawOverview();
  fillChoices();
  draw();
}
// The same layer and step of another sentence, where it has them.
function chooseSentence(map) {
  const {module, step} = maps[state.map], {sentence} = maps[map];
  const like = maps.findIndex(other => other.sentence === sentence && other.module === module && other.step === step);
  choose(like < 0 ? map : like, state.head);
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
$('sentences').onchange = event => chooseSentence(event.target.value);
$('layer').onchange = $('step').onchange = event => choose(event.target.value, state.head);
$('head').onchange = event => choose(state.map, event.target.value);

$('contrast').onchange = draw;

// A small picture of one head, a pixel for each weight, in the colours of the heat map.
function small({queries, keys}, head) {
  const image = new ImageData(keys.length || 1, queries.length || 1);
  const pixels = new Uint32Array(image.data.buffer);
  head.forEach((weight, i) => { pixels[i] = shades[weight > 0 ? Math.min(Math.round(255 * weight / 1e4), 255) : 0]; });
  const canvas = make('canvas', {width: image.width, height: image.height});
  canvas.getContext('2d').putImageData(image, 0, 0);
  return canvas;
}
let shades;  // of 0 to 255, as pixels have them
function drawOverview() {
  readPalette();
  shades = Array.from({length: 256}, (_, i) => {
    const [r, g, b] = colour(i / 255);
    return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
  });
  $('overview').replaceChildren(...maps.flatMap((map, m) => {
    if (map.sentence !== maps[state.map].sentence) return [];
    const name = nameOf(map) + (map.step ? `, step ${map.step}` : '');
    const heads = map.weights.map((head, h) => make('button',
        {title: `${name}, head ${h + 1}`, 'data-map': m, 'data-head': h}, small(map, head)));
    return [make('div', {class: 'faint'}, name), make('div', {class: 'heads'}, ...heads)];
  }));
}
if (maps.length) {
  choose(0, maps[0].weights.length > 1 ? -1 : 0);
  let width = innerWidth, height = innerHeight;
  addEventListener('resize', () => {
    if (width !== innerWidth || height !== innerHeight) draw();
    [width, height] = [innerWidth, innerHeight];
  });
  matchMedia('(prefers-color-scheme: dark)').onchange = () => { drawOverview(); fillChoices(); draw(); };
}
