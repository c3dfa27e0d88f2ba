'use strict';
const maps = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const within = (i, list) => Math.max(0, Math.min(i, list.length - 1));
const range = n => Array.from({length: n}, (_, i) => i);
const state = {map: 0, head: -1, query: 0, key: 0, only: false};  // head -1: the mean of all
let weights = [];                                                 // of the map and head that are shown

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

// The weights [Tq * Tk] of one head, or the mean of all; the file has them as multiples of 1/10000.
function weightsOf(map, head) {
  const chosen = head < 0 ? map.weights : [map.weights[head]];
  return range(map.queries.length * map.keys.length)
      .map(i => chosen.reduce((sum, one) => sum + (one[i] ?? NaN), 0) / chosen.length / 1e4);
}
const opacity = weight => Math.min(Math.max(weight || 0, 0), 1).toFixed(3);
const nameOf = map => map.module || 'attention';
const isOwn = map => map.queries.length === map.keys.length && map.queries.every((q, i) => q === map.keys[i]);

function drawSentence() {
  const map = maps[state.map], own = isOwn(map), count = map.keys.length;
  const picked = i => ({'data-pick': i, ...(i === state.query && {class: 'now', 'aria-current': true})});
  const pick = (token, i) => tokenNode('span', token, picked(i));
  const key = (token, i) => tokenNode('span', token, {
    'data-key': i, style: `--weight: ${opacity(weights[state.query * count + i])}`, ...(own && picked(i))});
  const queries = own ? [] : [make('div', {}, ...map.queries.map(pick))];
  $('sentence').replaceChildren(...queries, make('div', {}, ...map.keys.map(key)));
}

const picture = (label, width, height, letters) => make('svg', {
  viewBox: `0 0 ${width} ${height}`, width, 'font-size': letters, tabindex: 0, role: 'img', 'aria-label': label});

// Of more than 128 tokens several share a cell, which shows their largest weight.
const blockOf = map => Math.ceil(Math.max(map.queries.length, map.keys.length) / 128) || 1;
function drawHeat() {
  const map = maps[state.map], {queries, keys} = map, each = blockOf(map);
  const rows = Math.ceil(queries.length / each), columns = Math.ceil(keys.length / each);
  const cell = Math.max(4, Math.min(32, Math.floor(560 / Math.max(rows, columns, 1))));
  const size = each === 1 && cell > 8 ? Math.min(14, cell * .75) : 0;
  const left = size ? widest(queries) * size + 10 : 4, slant = size ? widest(keys) * size * .72 + 8 : 4;
  const width = columns * cell, height = rows * cell, top = slant + size * .5;
  const svg = picture('Heat map', left + width + slant, top + height + 4, size);
  svg.append(make('rect', {class: 'frame', x: left, y: top, width, height}));
  for (let r = 0; r < rows; ++r)
    for (let c = 0; c < columns; ++c) {
      let best = r * each * keys.length + c * each;
      for (let q = r * each; q < Math.min((r + 1) * each, queries.length); ++q)
        for (let k = c * each; k < Math.min((c + 1) * each, keys.length); ++k)
          if (weights[q * keys.length + k] > weights[best]) best = q * keys.length + k;
      svg.append(make('rect', {
        x: left + c * cell, y: top + r * cell, width: cell, height: cell,
        'fill-opacity': opacity(weights[best]), 'data-query': Math.floor(best / keys.length), 'data-key': best % keys.length}));
    }
  if (size) {
    queries.forEach((token, q) => svg.append(tokenNode('text', short(token),
        {x: left - 6, y: top + (q + .5) * cell + size * .35, 'text-anchor': 'end', 'data-row': q})));
    keys.forEach((token, k) => svg.append(tokenNode('text', short(token),
        {transform: `translate(${left + (k + .5) * cell + size * .3} ${top - 5}) rotate(-45)`})));
  }
  svg.append(make('rect', {
    class: 'row', x: left, y: top, width, height: cell, 'data-cell': cell, 'data-top': top}));
  $('heat').replaceChildren(svg);
}

function drawLines() {
  const {queries, keys} = maps[state.map], step = 24, size = 14;
  const left = widest(queries) * size + 14, right = left + 220;
  const width = right + widest(keys) * size + 14, height = step * Math.max(queries.length, keys.length) + 8;
  const svg = picture('Lines between tokens', width, height, size);
  const middle = i => step * (i + .5) + 4;
  queries.forEach((token, q) => {
    const group = make('g', {'data-from': q});
    keys.forEach((_, k) => {
      const weight = weights[q * keys.length + k];
      if (weight >= .01)
        group.append(make('line', {
          x1: left, y1: middle(q), x2: right, y2: middle(k), 'stroke-opacity': opacity(weight),
          'data-query': q, 'data-key': k}));
    });
    svg.append(group, tokenNode('text', short(token),
        {x: left - 8, y: middle(q) + 5, 'text-anchor': 'end', 'data-only': q, 'data-row': q}));
  });
  keys.forEach((token, k) => svg.append(tokenNode('text', short(token),
      {x: right + 8, y: middle(k) + 5, 'data-key': k})));
  $('lines').replaceChildren(svg);
}

// Redraws what depends on the current token alone.
function markQuery() {
  drawSentence();
  const frame = $('heat').querySelector('.row'), {cell, top} = frame.dataset;
  frame.setAttribute('y', +top + Math.floor(state.query / blockOf(maps[state.map])) * cell);
  for (const label of document.querySelectorAll('[data-row]'))
    label.classList.toggle('now', +label.dataset.row === state.query);
  for (const group of $('lines').querySelectorAll('g'))
    group.style.display = state.only && +group.dataset.from !== state.query ? 'none' : '';
}

function fillChoices() {
  const here = maps[state.map], option = (text, value, now) => new Option(text, value, false, now);
  const firsts = maps.filter((map, i) => maps.findIndex(other => other.module === map.module) === i);
  $('layer').replaceChildren(
      ...firsts.map(map => option(nameOf(map), maps.indexOf(map), map.module === here.module)));
  const same = maps.filter(map => map.module === here.module);
  $('step').replaceChildren(...same.map(map => option(map.step, maps.indexOf(map), map === here)));
  $('steps').hidden = same.length < 2;
  const heads = here.weights.length;
  $('head').replaceChildren(...(heads > 1 ? [option('mean', -1, state.head < 0)] : []),
                            ...range(heads).map(h => option(h, h, h === state.head || heads === 1)));
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
  const {queries, keys} = maps[state.map];
  if (!target) return $('tip').replaceChildren();
  const box = target.getBoundingClientRect(), weight = weights[query * keys.length + key];
  $('tip').replaceChildren(`${queries[query]} → ${keys[key]}: ${weight.toFixed(4)}`);
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
  const moves = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
  const picture = event.target.closest('#sentence, #heat, #lines');
  if (!moves || !picture) return;
  event.preventDefault();
  const {queries, keys} = maps[state.map];
  state.key = within(state.key + moves[1], keys);
  only(within(state.query + moves[0], queries), picture.id === 'lines');
  const at = `[data-query="${state.query}"][data-key="${state.key}"]`;
  tip(picture.querySelector(picture.id === 'sentence' ? `[data-key="${state.key}"]` : at) ?? event.target);
});
document.addEventListener('focusout', () => { tip(); if (maps.length) only(state.query, false); });
document.addEventListener('scroll', () => tip(), {passive: true});
$('layer').onchange = $('step').onchange = event => choose(event.target.value, state.head);
$('head').onchange = event => choose(state.map, event.target.value);

// Small pictures are drawn when they come into view: there may be hundreds.
const seen = new IntersectionObserver(entries => {
  for (const {isIntersecting, target} of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    const map = maps[target.dataset.map], data = map.weights[target.dataset.head], canvas = target.firstChild;
    const rows = canvas.height = Math.min(map.queries.length, 96);
    const columns = canvas.width = Math.min(map.keys.length, 96);
    const brush = canvas.getContext('2d');
    brush.fillStyle = '#3b86e0';
    for (let i = 0; i < rows * columns; ++i) {
      const r = Math.floor(i / columns), c = i % columns;
      const q = Math.floor(r * map.queries.length / rows), k = Math.floor(c * map.keys.length / columns);
      brush.globalAlpha = opacity(data[q * map.keys.length + k] / 1e4);
      brush.fillRect(c, r, 1, 1);
    }
  }
});
maps.forEach((map, m) => {
  const name = nameOf(map) + (map.step ? `, step ${map.step}` : '');
  const heads = range(map.weights.length).map(head => {
    const title = `${name}, head ${head}`;
    const about = {title, 'aria-label': title, 'data-map': m, 'data-head': head};
    const button = make('button', about, make('canvas'));
    seen.observe(button);
    return button;
  });
  $('overview').append(make('div', {class: 'faint'}, name), make('div', {class: 'heads'}, ...heads));
});
if (maps.length) choose(0, maps[0].weights.length > 1 ? -1 : 0);
