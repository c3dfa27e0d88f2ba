'use strict';
// heed, compiled to WebAssembly, as one function: heed.call(name, numbers) returns the numbers of the answer. Works
// in a page, in a Worker and under node. See boundary.cpp for the other side.
function loadHeed(bytes) {
  const module = new WebAssembly.Module(bytes);
  let instance, names, message = '';

  const view = Type => new Type(instance.exports.memory.buffer);
  // The text that begins at an address and ends with a zero byte.
  function textAt(address) {
    const memory = view(Uint8Array);
    return new TextDecoder().decode(memory.subarray(address, memory.indexOf(0, address)));
  }
  // What heed imports: a function that takes the message of a throw. The system's functions, such as writing to a
  // terminal, do nothing and succeed.
  function imported({module, name}) {
    if (module !== 'wasi_snapshot_preview1') return address => { throw new Error(message = textAt(address)); };
    if (name === 'proc_exit') return () => { throw new Error(message || 'heed stopped'); };
    return () => 0;
  }
  function start() {
    const imports = {};
    for (const one of WebAssembly.Module.imports(module)) (imports[one.module] ??= {})[one.name] = imported(one);
    instance = new WebAssembly.Instance(module, imports);
    instance.exports._initialize?.();
    names = textAt(instance.exports.names()).split(' ');
  }
  // A throw leaves objects behind that are never destroyed, so a new instance takes over.
  function call(name, numbers) {
    const {request, call, answer, answer_count} = instance.exports;
    if (!names.includes(name)) throw new Error(`heed has no function ${name}`);
    try {
      const address = request(numbers.length);
      view(Float32Array).set(numbers, address / 4);
      call(names.indexOf(name));
      return new Float32Array(instance.exports.memory.buffer, answer(), answer_count()).slice();
    } catch (error) {
      start();
      throw error;
    }
  }
  start();
  return {call, names, bytes: () => view(Uint8Array).length};
}
if (typeof module === 'object') module.exports = loadHeed;
