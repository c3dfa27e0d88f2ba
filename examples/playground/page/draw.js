// Pictures in SVG. One unit is one CSS pixel: a picture is drawn anew for the width that it has, so letters keep their
// size in a narrow window.

// Sets attributes, listens (onclick: f), and appends. Strings become text, never markup.
function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') node.addEventListener(key.slice(2), value);
    else if (value === false || value === undefined) node.removeAttribute(key);
    else node.setAttribute(key, value === true ? '' : value);
  }
  node.append(...children.flat(3).filter(child => child !== undefined && child !== false));
  return node;
}
const html = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) =>
    fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);

const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
const range = count => Array.from({length: count}, (_, i) => i);
// A number for the reader, with a true minus sign.
const fixed = (value, digits = 2) =>
    Number.isFinite(value) ? value.toFixed(digits).replace(/^-(0\.?0*)$/, '$1').replace('-', '−') : '–';
// A number with about three significant digits.
const short = value => fixed(value, clamp(2 - Math.floor(Math.log10(Math.abs(value) || 1)), 0, 3));

// A word in a picture. Its halo has the color of the paper and keeps it legible on lines.
const label = (x, y, text, attributes = {}) => svg('text', {x, y, ...attributes}, text);
// About how wide a text is, in pixels, at 12 pixels a letter.
const widthOf = text => [...text].reduce((sum, c) => sum + (c > '\u2e7f' ? 12 : 7), 0);

// An arrow from one point to another, its head at the end.
function arrow(x1, y1, x2, y2, attributes = {}) {
  const angle = Math.atan2(y2 - y1, x2 - x1) * 180 / Math.PI;
  return svg('g', {class: 'arrow', ...attributes}, svg('line', {x1, y1, x2, y2}),
      svg('path', {d: 'M0,0L-9,-4.5L-9,4.5Z', transform: `translate(${x2} ${y2}) rotate(${angle})`}));
}

// Stripes for what is forbidden or drawn at random: a pattern that all pictures may name, url(#hatch).
function hatch() {
  const stripe = svg('line', {x1: 1, x2: 1, y1: 0, y2: 6, style: 'stroke: var(--soft); stroke-width: 1.5'});
  const pattern = svg('pattern', {id: 'hatch', width: 6, height: 6, patternUnits: 'userSpaceOnUse',
                                  patternTransform: 'rotate(45)'}, stripe);
  return svg('svg', {width: 0, height: 0, style: 'position: absolute', 'aria-hidden': true}, svg('defs', {}, pattern));
}

// The color of a weight between 0 and 1, from the scale of look.css, and the ink that is legible on it.
const dark = matchMedia('(prefers-color-scheme: dark)');
function heatColor(weight) {
  const part = clamp(weight, 0, 1) * 2, low = part < 1 ? ['--heat-0', '--heat-50'] : ['--heat-50', '--heat-100'];
  return `color-mix(in srgb, var(${low[1]}) ${((part < 1 ? part : part - 1) * 100).toFixed(1)}%, var(${low[0]}))`;
}
const heatInk = weight => (dark.matches ? weight < 0.55 : weight >= 0.72) ? '#fff' : '#000';

// A row or matrix of numbers as colored cells, the number in each that is wide enough for it.
//   rows    lists of numbers          cell    [width, height] in pixels
//   most    the number of full color  text    number, row, column -> its words
function heatCells(rows, {x = 0, y = 0, cell, most = 1, text = value => fixed(value), attributes = () => ({})}) {
  const [width, height] = cell, nodes = [];
  rows.forEach((row, r) => row.forEach((value, c) => {
    const left = x + c * width, top = y + r * height, part = Math.abs(value) / most, words = text(value, r, c);
    nodes.push(svg('rect', {class: 'cell', x: left, y: top, width, height, style: `fill: ${heatColor(part)}`,
                            ...attributes(r, c)}));
    if (words && widthOf(words) <= width)
      nodes.push(svg('text', {class: 'in-cell', x: left + width / 2, y: top + height / 2 + 4, 'text-anchor': 'middle',
                              style: `fill: ${heatInk(part)}`}, words));
  }));
  return nodes;
}

// Gives a picture the width of its frame, a height and a name for screen readers; returns the width.
function sized(picture, height, name) {
  const width = Math.max(picture.parentElement.clientWidth, 200);
  fill(picture, {width, height, viewBox: `0 0 ${width} ${height}`, 'aria-label': name}, []);
  return width;
}

// Round numbers between two ends, about `count` of them.
function ticks(low, high, count) {
  const raw = (high - low) / Math.max(count, 1), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find(factor => factor * power >= raw) * power;
  const first = Math.ceil(low / step - 1e-9);
  return range(Math.floor(high / step + 1e-9) - first + 1).map(i => +((first + i) * step).toPrecision(12));
}
const powersOfTen = (low, high) =>
    range(Math.floor(Math.log10(high) + 1e-9) - Math.ceil(Math.log10(low) - 1e-9) + 1)
        .map(i => 10 ** (Math.ceil(Math.log10(low) - 1e-9) + i));

// A picture with axes. `back` is drawn anew each time; handles stay, so that they keep focus and pointer.
class Plot {
  constructor(name, height) {
    this.back = svg('g');
    this.handles = [];
    this.front = svg('g');
    this.height = height;
    this.svg = svg('svg', {class: 'plot', role: 'group', 'aria-label': name}, this.back, this.front);
    this.margin = {left: 34, right: 16, top: 12, bottom: 34};
    catchPointers(this);
  }
  // Begins a drawing: the ends of both axes, and whether the horizontal one is logarithmic.
  begin(x, y, log = false) {
    this.width = Math.max(this.svg.parentElement.clientWidth, 200);
    Object.assign(this, {ends: {x, y}, log});
    fill(this.svg, {width: this.width, height: this.height, viewBox: `0 0 ${this.width} ${this.height}`}, []);
    this.back.replaceChildren();
  }
  get right() { return this.width - this.margin.right; }
  get bottom() { return this.height - this.margin.bottom; }
  scale(value) { return this.log ? Math.log10(value) : value; }
  px(x) {
    const [low, high] = this.ends.x.map(end => this.scale(end));
    return this.margin.left + (this.scale(x) - low) / (high - low) * (this.right - this.margin.left);
  }
  py(y) {
    const [low, high] = this.ends.y;
    return this.bottom - (y - low) / (high - low) * (this.bottom - this.margin.top);
  }
  // The numbers of the axes at a place in pixels.
  at(px, py) {
    const [low, high] = this.ends.x.map(end => this.scale(end));
    const x = low + (px - this.margin.left) / (this.right - this.margin.left) * (high - low);
    const [least, most] = this.ends.y;
    return [this.log ? 10 ** x : x, least + (this.bottom - py) / (this.bottom - this.margin.top) * (most - least)];
  }
  draw(...nodes) { this.back.append(...nodes.flat().filter(Boolean)); }

  axes(nameX, nameY, across = this.log ? powersOfTen(...this.ends.x) : undefined) {
    const {left, top} = this.margin, {x, y} = this.ends;
    across ??= ticks(...x, (this.right - left) / 70);
    const name = (x, y, value, anchor) =>
        label(x, y, String(value).replace('-', '−'), {'text-anchor': anchor, class: 'soft'});
    this.draw(across.map(value => [
      svg('line', {class: 'grid', x1: this.px(value), x2: this.px(value), y1: top, y2: this.bottom}),
      name(this.px(value), this.bottom + 15, value, 'middle'),
    ]).flat());
    this.draw(ticks(...y, (this.bottom - top) / 45).map(value => [
      svg('line', {class: 'grid', x1: left, x2: this.right, y1: this.py(value), y2: this.py(value)}),
      name(left - 5, this.py(value) + 4, value, 'end'),
    ]).flat());
    this.draw(label(this.right, this.bottom + 30, nameX, {'text-anchor': 'end', class: 'soft'}),
              label(left + 4, top + 10, nameY, {class: 'soft'}));
  }
  // A curve through points; numbers beyond the upper end leave the picture at its edge.
  curve(xs, ys, name) {
    const places = xs.map((x, i) => [this.px(x), clamp(this.py(ys[i]), this.margin.top - 4, this.bottom + 4)]);
    const d = places.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)},${y.toFixed(1)}`).join('');
    this.draw(svg('path', {class: `curve ${name}`, d}));
  }
}

// A computation drawn as a graph: boxes in layers, inputs before results, and arrows that turn when gradients flow.

// The layer of each node: as late as its users allow, so that leaves are beside what uses them.
function layersOf(nodes) {
  const users = nodes.map(() => []);
  nodes.forEach((node, i) => node.inputs.forEach(input => users[input].push(i)));
  const ahead = nodes.map(() => 0);  // steps to the end
  for (let i = nodes.length - 1; i >= 0; --i)
    for (const user of users[i]) ahead[i] = Math.max(ahead[i], ahead[user] + 1);
  const most = Math.max(...ahead);
  return ahead.map(steps => most - steps);
}

// Places for all nodes. Edges that skip layers get a place in each of them, so that they lead around boxes.
//   nodes    {inputs, width, height}            down      layers from top to bottom instead of from left to right
//   returns  {places: [x, y] of the middles, edges: [{from, to, points}], width, height}
function layoutOf(nodes, down) {
  const layer = layersOf(nodes), rows = range(Math.max(...layer) + 1).map(() => []);
  const spots = nodes.map(({width, height}, i) =>
      ({across: down ? width : height, along: down ? height : width, layer: layer[i], before: []}));
  const edges = [];
  nodes.forEach((node, to) => [...new Set(node.inputs)].forEach(from => {
    const way = [from];
    for (let at = layer[from] + 1; at < layer[to]; ++at)
      way.push(spots.push({across: 12, along: 0, layer: at, before: []}) - 1);
    way.push(to);
    way.slice(1).forEach((spot, i) => {
      spots[spot].before.push(way[i]);
      (spots[way[i]].after ??= []).push(spot);
    });
    edges.push({from, to, way});
  }));
  spots.forEach((spot, i) => rows[spot.layer].push(i));
  // Each row in the order of the mean place of its neighbors, a few times to and fro.
  const place = spots.map(() => 0);
  const spread = row => row.forEach((spot, i) => { place[spot] = i - (row.length - 1) / 2; });
  const mean = list => list.reduce((sum, one) => sum + place[one], 0) / list.length;
  rows.forEach(spread);
  for (const side of ['after', 'before', 'after', 'before', 'after'])
    for (const row of side === 'after' ? rows.toReversed() : rows) {
      const wish = new Map(row.map(one => [one, spots[one][side]?.length ? mean(spots[one][side]) : place[one]]));
      row.sort((a, b) => wish.get(a) - wish.get(b));
      spread(row);
    }
  const gap = down ? [14, 44] : [18, 54];
  const long = rows.map(row => Math.max(...row.map(spot => spots[spot].along)));
  const wide = rows.map(row => row.reduce((sum, spot) => sum + spots[spot].across + gap[0], -gap[0]));
  const widest = Math.max(...wide);
  let start = 0;
  rows.forEach((row, r) => {
    let across = (widest - wide[r]) / 2;
    for (const spot of row) {
      spots[spot].at = [across + spots[spot].across / 2, start + long[r] / 2];
      across += spots[spot].across + gap[0];
    }
    start += long[r] + gap[1];
  });
  const turned = spot => down ? spots[spot].at : [...spots[spot].at].reverse();
  // From the far side of the input's box to the near side of the result's.
  const side = (spot, sign) => {
    const [x, y] = turned(spot), half = spots[spot].along / 2 * sign;
    return down ? [x, y + half] : [x + half, y];
  };
  for (const edge of edges)
    edge.points = [side(edge.from, 1), ...edge.way.slice(1, -1).map(turned), side(edge.to, -1)];
  const size = [widest, start - gap[1]];
  return {places: nodes.map((_, i) => turned(i)), edges, width: size[down ? 0 : 1], height: size[down ? 1 : 0]};
}

// A smooth path through points that leaves and arrives along the direction of the layers.
function pathOf(points, down) {
  let d = `M${points[0]}`;
  for (let i = 1; i < points.length; ++i) {
    const [[x1, y1], [x2, y2]] = [points[i - 1], points[i]];
    const [x, y] = [(x1 + x2) / 2, (y1 + y2) / 2];
    d += down ? `C${x1},${y} ${x2},${y} ${x2},${y2}` : `C${x},${y1} ${x},${y2} ${x2},${y2}`;
  }
  return d;
}

// An edge with its head at the result, or turned, at the input.
function drawEdge({points}, down, {turned, name}) {
  const tip = turned ? points[0] : points.at(-1), angle = (down ? 90 : 0) + (turned ? 180 : 0);
  return svg('g', {class: `edge ${name}`}, svg('path', {class: 'wire', d: pathOf(points, down)}),
             svg('path', {class: 'head', d: 'M0,0L-10,-5L-10,5Z', transform: `translate(${tip}) rotate(${angle})`}));
}

// A tensor in one line for each of its rows, with few digits: "9", "[1, 2]".
function rowsOf(values, sizes) {
  const number = value => String(+value.toPrecision(3)).replace('-', '−');
  if (!sizes.length) return [number(values[0])];
  const columns = sizes.at(-1), rows = range(values.length / columns);
  return rows.map(r => `[${[...values.slice(r * columns, (r + 1) * columns)].map(number).join(', ')}]`);
}
