// A computation drawn as a graph: boxes in layers, inputs before results, and arrows that turn when gradients flow.

// The layer of each node: as late as its users allow, so that leaves are beside what uses them.
function layersOf(nodes) {
  const users = nodes.map(() => []);
  nodes.forEach((node, i) => node.inputs.forEach(input => users[input].push(i)));
  const ahead = nodes.map(() => 0);  // steps to the end
  for (let i = nodes.length - 1; i >= 0; --i) for (const user of users[i]) ahead[i] = Math.max(ahead[i], ahead[user] + 1);
  const most = Math.max(...ahead);
  return ahead.map(steps => most - steps);
}

// Places for all nodes. Edges that skip layers get a place in each of them, so that they lead around boxes.
//   nodes    {inputs, width, height}            down      layers from top to bottom instead of from left to right
//   returns  {places: [x, y] of the middles, edges: [{from, to, points}], width, height}
function layoutOf(nodes, down) {
  const layer = layersOf(nodes), rows = range(Math.max(...layer) + 1).map(() => []);
  const spots = nodes.map((node, i) => ({across: down ? node.width : node.height, along: down ? node.height : node.width,
                                         layer: layer[i], before: []}));
  const edges = [];
  nodes.forEach((node, to) => [...new Set(node.inputs)].forEach(from => {
    const way = [from];
    for (let at = layer[from] + 1; at < layer[to]; ++at) way.push(spots.push({across: 12, along: 0, layer: at, before: []}) - 1);
    way.push(to);
    way.slice(1).forEach((spot, i) => { spots[spot].before.push(way[i]); spots[way[i]].after = [...spots[way[i]].after ?? [], spot]; });
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
    d += down ? `C${x1},${(y1 + y2) / 2} ${x2},${(y1 + y2) / 2} ${x2},${y2}` : `C${(x1 + x2) / 2},${y1} ${(x1 + x2) / 2},${y2} ${x2},${y2}`;
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
