'use strict';
const $ = id => document.getElementById(id);
const words = {
  en: {
    attention: 'attention', sentence: 'Sentence', layer: 'Layer', step: 'Step', head: 'Head', mean: 'mean of all',
    stretch: 'full color at the largest weight instead of 1', unnamed: 'without a name',
    stretched: 'Full color at the largest weight makes small differences visible, but colors of different pictures can no longer be compared.',
    keys: 'Tap or point at anything to see its number. Tab goes to a picture, arrow keys through its tokens.',
    current: 'Current token, and what it attends to', heat: 'Heat map: queries are rows, keys are columns',
    lines: 'Lines from queries (left) to keys (right)', overview: 'All layers and heads of this sentence',
    masked: 'masked', colon: ': ', heading: (name, step, head) => name + (step ? `, step ${step}` : '') + (head ? `, head ${head}` : ''),
  },
  zh: {
    attention: '注意力', sentence: '句子', layer: '层', step: '步', head: '头', mean: '所有头的平均',
    stretch: '以最大的权重（而不是 1）为最深的颜色', unnamed: '未命名',
    stretched: '以最大的权重为最深的颜色，可以看清细小的差别，但不同的图之间不能再比较颜色。',
    keys: '点按或指向图中任意位置，可看到相应的数值；用 Tab 键选图，用方向键选词元。',
    current: '当前词元及其关注的词元', heat: '热图：行是查询，列是键',
    lines: '从查询（左）到键（右）的连线', overview: '该句的所有层和头',
    masked: '被掩码遮住', colon: '：', heading: (name, step, head) => name + (step ? `，第 ${step} 步` : '') + (head ? `，第 ${head} 个头` : ''),
  },
}[document.documentElement.lang.startsWith('zh') ? 'zh' : 'en'];
for (const node of document.querySelectorAll('[data-word]')) node.textContent = words[node.dataset.word];
const title = document.title;  // '': what is shown
const maps = JSON.parse($('data').textContent);
const within = (i, list) => Math.max(0, Math.min(i, list.length - 1));
const state = {map: 0, head: -1, query: 0, key: 0, only: false, most: 1};  // head -1: the mean of all; most: the end of the scale
let weights = [];  // [Tq][Tk], of the map and head that are shown
let rowAt;         // where a query is in the heat map

const svgNames = new Set(['svg', 'g', 'rect', 'line', 'text', 'defs', 'pattern']);
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
// Such as <eos> and [CLS]. Much attention to them says little.
const isSpecial = token => /^[<[].+[>\]]$/u.test(token);
const label = (token, attributes, ems) =>
    tokenNode('text', short(token, ems), {...attributes, ...(isSpecial(token) && {class: 'special'})});

// The weights of one head, or the mean of all; the file has them as multiples of 1/10000. -Infinity: masked in all.
function weightsOf({queries, keys, weights: heads}, head) {
  const chosen = head < 0 ? heads : [heads[head]];
  const mean = i => chosen.every(one => one[i] === false) ? -Infinity
      : chosen.reduce((sum, one) => sum + (one[i] ?? NaN), 0) / chosen.length / 1e4;
  return queries.map((_, q) => keys.map((_, k) => mean(q * keys.length + k)));
}
const numberOf = (weight, digits) => weight === -Infinity ? words.masked : weight.toFixed(digits);
// The share of the scale: of 1, or of the largest weight that is shown.
const share = weight => Math.min(Math.max(weight || 0, 0) / state.most, 1);
const opacity = weight => share(weight).toFixed(3);
// The palette of the heat maps, which look.css has for light and dark.
let palette;
function readPalette() {
  const style = getComputedStyle(document.documentElement);
  palette = ['--heat-0', '--heat-50', '--heat-100'].map(name =>
      style.getPropertyValue(name).match(/[0-9a-f]{2}/g).map(part => parseInt(part, 16)));
}
function colorOf(part) {  // in 256 steps
  const place = Math.round(255 * part) / 127.5, [low, high] = palette.slice(place < 1 ? 0 : 1);
  return low.map((value, i) => Math.round(value + (place - (place < 1 ? 0 : 1)) * (high[i] - value)));
}
// White or black, whichever has the larger contrast with it: at least 4.5.
const linear = part => (part / 255) ** 2.2;
const inkOn = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b) < .18 ? 'light' : 'dark';
const nameOf = map => map.name || words.attention;
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
const hatch = () => make('defs', {}, make('pattern',
    {id: 'masked', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)'},
    make('line', {class: 'stripe', x1: 1, x2: 1, y1: 0, y2: 6})));

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
  const widest = emsOf(keys, 9) * letters + 8, upright = widest <= fit(room - left, columns, 128);
  const wide = fit(room - left, columns, Math.max(48, upright ? widest : 0));
  const size = letters && Math.max(10, Math.min(letters, wide - 2)), top = !size ? 4 : upright ? 20 : emsOf(keys, 9) * size + 12;
  const high = Math.min(fit(tall - top, rows, 44), Math.max(wide * 1.5, 16)), width = columns * wide, height = rows * high;
  const svg = picture(words.heat, left + width + 4, top + height + 4, size);
  svg.append(hatch(), make('rect', {class: 'frame', x: left, y: top, width, height}));
  rowAt = query => top + Math.floor(query / each) * high;
  const cells = [];
  weights.forEach((row, query) => row.forEach((weight, key) => {
    const column = Math.floor(key / each), at = Math.floor(query / each) * columns + column;
    if (!cells[at] || weight > cells[at].weight) cells[at] = {weight, query, key, x: left + column * wide};
  }));
  for (const {weight, query, key, x} of cells) {
    const shade = colorOf(share(weight)), masked = weight === -Infinity;
    svg.append(make('rect', {x, y: rowAt(query), width: wide, height: high, fill: masked ? 'url(#masked)' : `rgb(${shade})`,
                             'data-query': query, 'data-key': key}));
    if (each === 1 && wide >= 30 && high >= 16 && !masked)
      svg.append(make('text', {class: 'number ' + inkOn(shade), x: x + wide / 2, y: rowAt(query) + high / 2 + 4,
                               'font-size': wide < 40 ? 11 : 13, 'text-anchor': 'middle'}, weight.toFixed(2)));
  }
  if (size) {
    queries.forEach((token, q) => svg.append(label(token,
        {x: left - 6, y: rowAt(q) + high / 2 + size * .35, 'text-anchor': 'end', 'data-row': q}, most)));
    keys.forEach((token, k) => {
      const x = left + (k + .5) * wide, y = top - 5;
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
  const svg = picture(words.lines, end + right, step * Math.max(queries.length, keys.length) + 8, size);
  const middle = i => step * (i + .5) + 4;
  queries.forEach((token, q) => {
    const line = (weight, k) => make('line', {
      ...((isSpecial(token) || isSpecial(keys[k])) && {class: 'special'}),
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
  offer('sentences', firstOf(maps, map => map.sentence, map => map.sentence || words.unnamed), maps.indexOf(sentence[0]));
  offer('layer', firstOf(sentence, map => map.module, nameOf), maps.indexOf(same[0]));
  offer('step', same.map(map => [map.step, maps.indexOf(map)]), state.map);
  const heads = here.weights.map((_, head) => [head + 1, head]);
  if (heads.length > 1) heads.unshift([words.mean, -1]);
  offer('head', heads, heads.length > 1 ? state.head : 0);
  for (const button of document.querySelectorAll('button'))
    button.setAttribute('aria-pressed',
                        +button.dataset.map === state.map && +button.dataset.head === state.head);
}

function drawTitle() {
  if (title) return;
  const map = maps[state.map], {sentence, name, step, weights: heads} = map;
  const head = heads.length > 1 && state.head >= 0 && state.head + 1;
  const shown = sentence && !name ? words.heading(sentence, step, head)
      : (sentence && sentence + words.colon) + words.heading(nameOf(map), step, head);
  document.title = document.querySelector('h1').textContent = shown;
}

function draw() {
  state.most = $('contrast').checked ? Math.max(1e-4, ...weights.flat().filter(isFinite)) : 1;
  $('largest').replaceChildren($('contrast').checked ? state.most.toFixed(2) : '1');
  drawTitle();
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

// The number behind a picture's part, above it and inside the window; without one, none.
function tip(target, query = state.query, key = state.key) {
  if (!target?.isConnected) return $('tip').replaceChildren();
  const {queries, keys} = maps[state.map], box = target.getBoundingClientRect();
  $('tip').replaceChildren(`${queries[query]} → ${keys[key]}: ${numberOf(weights[query][key], 4)}`);
  const {offsetWidth, offsetHeight} = $('tip'), rightmost = document.documentElement.clientWidth - offsetWidth - 4;
  Object.assign($('tip').style, {
    left: Math.max(4, Math.min(box.x + (box.width - offsetWidth) / 2, rightmost)) + 'px',
    top: Math.max(4, box.y - offsetHeight - 6) + 'px'});
}

function only(query, alone) {
  if (state.query === query && state.only === alone) return;
  Object.assign(state, {query, only: alone});
  markQuery();
}

// What the mouse is over, or a finger has tapped: a number, or a token whose lines are shown alone.
function point(target) {
  const {key, query, only: lines} = target.dataset ?? {};
  if (lines !== undefined) only(+lines, true);
  else if (state.only && !target.closest('#lines g')) only(state.query, false);
  key === undefined ? tip() : tip(target, +(query ?? state.query), +key);
}
document.addEventListener('pointerover', ({target}) => point(target));
document.addEventListener('click', ({target}) => {  // after focusout, which a tap may cause
  const button = target.closest('button'), {pick, query} = target.dataset;
  if (button) return choose(button.dataset.map, button.dataset.head);
  if (pick ?? query) only(+(pick ?? query), false);
  point(target);
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

// A small picture of one head, a pixel for each weight, in the colors of the heat map.
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
    const [r, g, b] = colorOf(i / 255);
    return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
  });
  $('overview').replaceChildren(...maps.flatMap((map, m) => {
    if (map.sentence !== maps[state.map].sentence) return [];
    const heads = map.weights.map((head, h) => make('button',
        {title: words.heading(nameOf(map), map.step, h + 1), 'data-map': m, 'data-head': h}, small(map, head)));
    return [make('div', {class: 'faint'}, words.heading(nameOf(map), map.step)), make('div', {class: 'heads'}, ...heads)];
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
