// The presets of bench 3: words as vectors, and the matrices that turn them into queries, keys and values. Their names
// are in the files of strings. Without a matrix of its own, a preset has the identity.

const tokenSets = {
  // As the native program begins; the numbers of 臣劝君饮 in chapter 0 of the guide.
  context: {X: range(4).map(t => firstRequest('tokens').slice(6 + 2 * t, 8 + 2 * t))},
  // river bank, money bank: one word twice.
  bank: {X: [[2, 0], [1, 1], [0, 2], [1, 1]]},
  // Four characters of a poem in which 君 is the friend of the dream.
  dream: {X: [[1.9, 0.9], [-1.2, 0.6], [-0.9, -1.2], [1.4, 0.9]]},
  // attention_by_hand --example worked: Q, K and V are given, so X is the identity.
  worked: {X: [[1, 0], [0, 1]], Q: [[1, 0, 1], [0, 1, 1]], K: [[1, 1, 0], [0, 1, 1]], V: [[1, 2], [3, 4]], end: 4.6},
  // attention_by_hand --example thinking-machines: words of width 4, queries, keys and values of width 64.
  machines: {X: [[1, 0, 1, 0], [0, 1, 0, 1]],
             Q: columnsOf(64, (c, sign) => [1, 0.5 + 0.5 * sign, 0, 0]),
             K: columnsOf(64, (c, sign) => [1.75, 1.5, 0.5 * sign, -0.5 * sign]),
             V: columnsOf(64, c => [0.25 * (c % 5), 1 - 0.25 * (c % 3), 0, 0]), end: 1.4},
};

// The matrix of which each column is column(c, sign), the sign being +1 and -1 by turns.
function columnsOf(count, column) {
  const columns = range(count).map(c => column(c, c % 2 ? -1 : 1));
  return columns[0].map((_, r) => columns.map(one => one[r]));
}
const identity = size => range(size).map(r => range(size).map(c => Number(r === c)));

// A matrix whose first two rows are turned by an angle: X W becomes (X turned) W in the first two coordinates.
function turnedRows(matrix, degrees) {
  const angle = degrees * Math.PI / 180, c = Math.cos(angle), s = Math.sin(angle), [first, second, ...rest] = matrix;
  const mixed = (a, b) => first.map((value, i) => a * value + b * second[i]);
  return [mixed(c, s), mixed(-s, c), ...rest];
}
