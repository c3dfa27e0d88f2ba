'use strict';
// Runs the tests of heed as WebAssembly:
//   node tests/wasm/run.js build/release/wasm/tests/wasm/heed_tests.wasm [part of a name]
// Each test case has an instance of its own, since a throw that a test does not expect ends the instance. Fails if a
// test case fails that is not in the list, or if one of the list passes.
const fs = require('fs');

const noCompiler = 'there is no compiler', noCatch = 'nothing can catch', signOfZero = 'sign of relu(-0)';
const expectedFailures = {
  'a compiler that lacks something gives one error for a public header, which names it': noCompiler,
  'a forward or backward with the wrong parameters is a compile error of one line': noCompiler,
  'an invalid rule of an edge is a compile error of one line': noCompiler,
  'operations as members are compile errors that name the free function': noCompiler,
  'vectors of other types give a compile error of one line': noCompiler,
  'HEED_VERSION is made of its three numbers': 'there are no files',
  'each thread has its own recording mode': 'there is one thread',
  'operators: an unexpected exception is a finding': noCatch,
  'operators: the checks detect planted faults': noCatch,
  'special values: unary functions and their derivatives<double>': signOfZero,
  'special values: unary functions and their derivatives<float>': signOfZero,
};

class Thrown extends Error {}  // by C++

const savedAt = [];  // memory before an attempt inside of others: one buffer for each depth

// An instance, with its exports; `printed` collects what it prints.
function makeInstance(module) {
  let instance, message, depth = 0;
  const printed = [];
  const bytes = (address, length) => Buffer.from(instance.exports.memory.buffer, address, length);
  const textAt = address => {
    const all = bytes(address);
    return all.subarray(0, all.indexOf(0)).toString();
  };
  const heed = {
    fail(address) { throw new Thrown(textAt(address)); },
    // Calls a function with its context. If it throws, undoes all that it did. Returns the length of the message, or 0.
    attempt(f, context) {
      const {memory, __stack_pointer: stack, __indirect_function_table: table} = instance.exports;
      const used = new Uint8Array(memory.buffer, stack.value), top = stack.value;
      if (!(savedAt[depth]?.length >= used.length)) savedAt[depth] = new Uint8Array(2 * used.length);
      const saved = savedAt[depth];
      saved.set(used);
      let text = '';
      ++depth;
      try {
        table.get(f)(context);
      } catch (error) {
        if (!(error instanceof Thrown)) throw error;
        new Uint8Array(memory.buffer, top).set(saved.subarray(0, used.length));
        stack.value = top;
        text = error.message;
      } finally {
        --depth;
      }
      message = Buffer.from(text);
      return message.length;
    },
    message(address) { message.copy(bytes(address, message.length)); },
  };
  const system = {
    clock_time_get(clock, precision, time) {
      new DataView(instance.exports.memory.buffer).setBigUint64(time, process.hrtime.bigint(), true);
      return 0;
    },
    fd_write(file, pieces, count, written) {
      const memory = new DataView(instance.exports.memory.buffer);
      let total = 0;
      for (let i = 0; i < count; ++i) {
        const length = memory.getUint32(pieces + 8 * i + 4, true);
        printed.push(bytes(memory.getUint32(pieces + 8 * i, true), length).toString());
        total += length;
      }
      memory.setUint32(written, total, true);
      return 0;
    },
  };
  // The system's other functions say that there is no such file.
  const others = new Proxy(system, {get: (known, name) => known[name] ?? (() => 8)});
  instance = new WebAssembly.Instance(module, {heed, wasi_snapshot_preview1: others});
  instance.exports._initialize();
  return {exports: instance.exports, printed, textAt};
}

// What is wrong with a test case; '' if nothing is.
function failureOf(module, index) {
  const {exports, printed} = makeInstance(module);
  try {
    return exports.run(index) ? '' : printed.join('');
  } catch (error) {
    return printed.join('') + (error instanceof Thrown ? 'threw: ' + error.message : error.stack);
  }
}

const [, , file, part = ''] = process.argv;
const tests = new WebAssembly.Module(fs.readFileSync(file));
const first = makeInstance(tests);
const names = first.textAt(first.exports.names()).trimEnd().split('\n');
let passed = 0, named = 0, wrong = 0;
names.forEach((name, index) => {
  if (!name.includes(part)) return;
  const failure = failureOf(tests, index), reason = expectedFailures[name];
  if (failure && !reason) console.log(`${name}: failed\n${failure}`);
  if (failure && reason) console.log(`${name}: fails as expected: ${reason}`);
  if (!failure && reason) console.log(`${name}: passes, although the list says: ${reason}`);
  if (!failure === !reason) failure ? ++named : ++passed;
  else ++wrong;
});
for (const name in expectedFailures)
  if (!names.includes(name)) console.log(`${name}: in the list, but there is no such test case`), ++wrong;
console.log(`test cases: ${passed + named + wrong} | ${passed} passed | ${named} failed as expected | ${wrong} wrong`);
process.exit(wrong ? 1 : 0);
