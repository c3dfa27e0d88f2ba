'use strict';
// Unpacks gzip (RFC 1952), in which the page contains WebAssembly. Deflate (RFC 1951) writes a text as bytes and as
// copies of what came before; both are symbols of Huffman codes. Browsers can unpack, too, but not at once.

// A Huffman code, given the length of each symbol's code: symbols in the order of their codes, and how many codes have
// each length.
function huffmanCode(lengths) {
  const counts = new Uint16Array(16), symbols = [];
  for (const length of lengths) if (length) ++counts[length];
  for (let length = 1; length < 16; ++length)
    lengths.forEach((one, symbol) => { if (one === length) symbols.push(symbol); });
  return {counts, symbols};
}

function gunzip(packed) {
  const text = new Uint8Array(new DataView(packed.buffer, packed.byteOffset).getUint32(packed.length - 4, true));
  let at = 10, bits = 0, count = 0, end = 0;  // the header is 10 bytes without a name (gzip -n)

  function take(size) {
    while (count < size) {
      if (at >= packed.length) throw new Error('what is packed ends too early');
      bits |= packed[at++] << count;
      count += 8;
    }
    const value = bits & ((1 << size) - 1);
    bits >>>= size;
    count -= size;
    return value;
  }
  // Codes of one length are numbers in sequence, and the first of the next length follows them with a 0 behind it.
  function symbolOf({counts, symbols}) {
    let code = 0, first = 0, index = 0;
    for (let length = 1; length < 16; ++length) {
      code |= take(1);
      if (code - first < counts[length]) return symbols[index + code - first];
      index += counts[length];
      first = (first + counts[length]) << 1;
      code <<= 1;
    }
    throw new Error('what is packed is damaged');
  }
  const lengthOf = symbol => {
    if (symbol < 265 || symbol === 285) return symbol === 285 ? 258 : symbol - 254;
    const extra = (symbol - 261) >> 2;
    return ((((symbol - 261) & 3) + 4) << extra) + 3 + take(extra);
  };
  const distanceOf = symbol => {
    if (symbol < 4) return symbol + 1;
    const extra = (symbol >> 1) - 1;
    return (((symbol & 1) + 2) << extra) + 1 + take(extra);
  };
  function readSymbols(literals, distances) {
    for (let symbol = symbolOf(literals); symbol !== 256; symbol = symbolOf(literals)) {
      if (symbol < 256) {
        text[end++] = symbol;
        continue;
      }
      const length = lengthOf(symbol), from = end - distanceOf(symbolOf(distances));
      for (let i = 0; i < length; ++i) text[end++] = text[from + i];  // the copy may overlap what it copies
    }
  }
  // Both codes of a block are written as lengths, in a code of their own: 16 repeats, 17 and 18 are many zeros.
  function readCodes() {
    const literals = take(5) + 257, distances = take(5) + 1, used = take(4) + 4, lengths = Array(19).fill(0);
    const order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
    for (const symbol of order.slice(0, used)) lengths[symbol] = take(3);
    const code = huffmanCode(lengths), all = [];
    while (all.length < literals + distances) {
      const symbol = symbolOf(code);
      if (symbol < 16) all.push(symbol);
      else if (symbol === 16) all.push(...Array(3 + take(2)).fill(all.at(-1)));
      else all.push(...Array(symbol === 17 ? 3 + take(3) : 11 + take(7)).fill(0));
    }
    return [huffmanCode(all.slice(0, literals)), huffmanCode(all.slice(literals))];
  }
  function readStored() {
    bits = count = 0;  // it begins with a whole byte
    const size = packed[at] | packed[at + 1] << 8;
    text.set(packed.subarray(at + 4, at + 4 + size), end);
    end += size;
    at += 4 + size;
  }
  const fixedLengths = [[144, 8], [112, 9], [24, 7], [8, 8]].flatMap(([times, length]) => Array(times).fill(length));
  for (let isLast = 0; !isLast;) {
    isLast = take(1);
    const kind = take(2);
    if (kind === 0) readStored();
    else if (kind === 1) readSymbols(huffmanCode(fixedLengths), huffmanCode(Array(30).fill(5)));
    else readSymbols(...readCodes());
  }
  return text;
}
if (typeof module === 'object') module.exports = gunzip;
