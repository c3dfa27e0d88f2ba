// heed in a Worker: call() as in wasm.js, but it returns a promise. Calls are answered in their order.
class HeedWorker {
  constructor() {
    const answer = ({data: {id, bytes, name, numbers}}) => {
      try {
        if (bytes) self.heed = loadHeed(bytes);
        else postMessage({id, answer: self.heed.call(name, numbers)});
      } catch (error) {
        postMessage({id, error: error.message});
      }
    };
    const url = URL.createObjectURL(new Blob([`${loadHeed}\nonmessage = ${answer};`], {type: 'text/javascript'}));
    this.worker = new Worker(url);
    this.waiting = new Map();
    this.worker.onmessage = ({data: {id, answer, error}}) => {
      const {done, fail} = this.waiting.get(id);
      this.waiting.delete(id);
      if (error === undefined) done(answer);
      else fail(new Error(error));
    };
    this.worker.postMessage({bytes: wasm});
  }
  // Calls without an answer fail with the error.
  end(error) {
    this.worker.terminate();
    for (const {fail} of this.waiting.values()) fail(error);
    this.waiting.clear();
  }
  call(name, numbers) {
    return new Promise((done, fail) => {
      const id = this.next = (this.next ?? 0) + 1;
      this.waiting.set(id, {done, fail});
      this.worker.postMessage({id, name, numbers});
    });
  }
}
