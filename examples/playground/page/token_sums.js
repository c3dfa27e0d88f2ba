// Where a number of bench 3 comes from.

// The sum of products of two lists, of which a long one is cut: 1.00 · 2.00 + 0.50 · 1.00 + …
function productText(a, b) {
  const terms = a.slice(0, mostColumns).map((x, i) => `${fixed(x)} · ${fixed(b[i])}`);
  return [...terms, ...a.length > mostColumns ? ['…'] : []].join(' + ');
}

// The numbers to light, and the sum in words.
function tokenSources(bench, {name, row, column}) {
  const {now, T, state: {heads}} = bench, value = fixed(now[name][row][column], 3), head = +name[1] || 0;
  const columnOf = (matrix, c) => now[matrix].map(line => line[c]);
  const rowOf = (matrix, r, columns) => columns.map(c => `${matrix} ${r} ${c}`);
  // A product X W: a row of X, a column of W.
  const product = (left, right, equals) => ({
    from: [...rowOf(left, row, range(now[left][0].length)), ...now[right].map((_, r) => `${right} ${r} ${column}`)],
    text: `${equals} = ${productText(now[left][row], columnOf(right, column))} = ${value}`});
  // The columns of a head.
  const wide = now.Q[0].length / heads, columns = range(wide).map(c => head * wide + c);
  switch (name[0]) {
    case 'Q': case 'K': case 'V': return product('X', 'W' + name, name);
    case 'Y': return product('Z', 'WO', 'Y');
    case 'Z': return product('A' + Math.floor(column / (now.Z[0].length / heads)), 'V', 'Z');
    case 'S': {
      const [q, k] = [now.Q[row], now.K[column]].map(line => columns.map(c => line[c]));
      return {from: [...rowOf('Q', row, columns), ...rowOf('K', column, columns)],
              text: `S = (${productText(q, k)}) / √${wide} = ${value}`};
    }
    case 'A': {
      if (!bench.isAllowed(row, column)) return {from: [`M ${row} ${column}`], text: bench.word('masked')};
      const keys = range(T).filter(c => bench.isAllowed(row, c)), S = 'S' + head;
      const power = c => `exp(${fixed(now[S][row][c])})`;
      return {from: [...rowOf(S, row, keys), ...rowOf('M', row, range(T))],
              text: `A = ${power(column)} / (${keys.map(power).join(' + ')}) = ${value}`};
    }
    case 'M': return {from: [], text: bench.word(bench.isAllowed(row, column) ? 'unmasked' : 'masked')};
    default: return {from: [], text: `${name[0] === 'W' ? 'W_' + name[1] : name} = ${value}`};
  }
}
