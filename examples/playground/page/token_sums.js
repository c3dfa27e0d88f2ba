// Where a number of bench 3 comes from, and the C++ program of the bench.

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

function tokensProgram(bench) {
  const {T, now, state: {heads, positions, allowed, X}, d} = bench, names = [...heads === 1 ? 'QKV' : 'QKVO'];
  const tensorOf = rows => `reshape(tensor(${cppLines(rows.flat())}), {${rows.length}, ${rows[0].length}})`;
  const words = range(T).map(t => bench.wordAt(t)), mask = range(T).map(r => allowed.slice(T * r, T * r + T));
  const split = name => heads === 1 ? name : `transpose(reshape(${name}, {${T}, 2, 1}), 0, 1)`;
  const matrices = names.map(name => `  const Tensor W_${name} = ${tensorOf(now['W' + name])};`).join('\n');
  const joined = heads === 1 ? 'result.output' : `reshape(transpose(result.output, 0, 1), {${T}, 2})`;
  return `// tokens.cpp: ${bench.word('title')}
#include <heed.h>

#include <iostream>
using namespace heed;

int main() {
  const Tensor words = ${tensorOf(words)};
  const Tensor X = ${positions ? `SinusoidalPosition(${d})(words)` : 'words'};
${matrices}
  const Tensor allowed = ${tensorOf(mask)} == 1;
  const Tensor Q = matmul(X, W_Q), K = matmul(X, W_K), V = matmul(X, W_V);
  const AttentionResult result = F::scaled_dot_product_attention(
      ${['Q', 'K', 'V'].map(split).join(',\n      ')},
      {.mask = allowed, .need_weights = true});
  const Tensor Z = ${joined};
  std::cout << "A " << result.weights << '\\n';
  std::cout << "Z " << Z << '\\n';
${heads === 1 ? '' : `  std::cout << "Y " << matmul(Z, W_O) << '\\n';
`}}
`;
}
