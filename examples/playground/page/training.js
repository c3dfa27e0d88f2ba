// The training of the two translators: the one that the native program recorded, or the reader's own in a Worker, so
// that the page stays responsive.
//
// The layouts of request and answer are those of translators.h:
//   translators_learn      seed, step, steps -> the step reached, then both losses of each step
//   translators_keep       number -> step
//   translators_load       count, bytes -> count
//   translators_score      state -> count of lengths, and for each: length, sentences, exact ones of both
//   translators_translate  state, 0 or 1 for attention, text, count of forbidden cells, word and key of each
//                          -> count of unknown tokens, each (a text); if none:
//                             count of words, each; count of keys, each; with attention: weights, a row for each word
// A state is one that was kept, or -1 for the present one.

// A translation from the answer of translators_translate.
function readTranslation(numbers) {
  const read = new NumberReader(numbers), texts = () => read.list(() => read.text()), unknown = texts();
  if (unknown.length) return {unknown};
  const words = texts(), keys = texts();
  const weights = read.at < numbers.length ? words.map(() => [...read.many(keys.length)]) : undefined;
  return {words, keys, weights, text: words.filter(one => one !== '<eos>').join(' ')};
}
// Exact translations of two neighboring lengths together: {length, sentences, exact: [one vector, attention]}.
function readScore(numbers) {
  const read = new NumberReader(numbers), groups = new Map();
  read.list(() => {
    const [length, sentences, ...exact] = read.many(4), upper = 2 * Math.ceil(length / 2);
    const group = groups.get(upper) ?? {length: upper, sentences: 0, exact: [0, 0]};
    group.sentences += sentences;
    exact.forEach((count, i) => { group.exact[i] += count; });
    groups.set(upper, group);
  });
  return [...groups.values()];
}

class TrainingBench extends Bench {
  // The training that the page contains. A state has a step, a score, and answers by text and forbidden cells.
  begin() {
    this.record ??= given.record;
    this.seed = this.record.seed;
    this.losses = this.record.losses;
    this.states = this.record.states.map(({step, score, translations}) =>
        ({step, score: readScore(score), answers: this.recordedAnswers(translations)}));
    this.own = false;  // whether the states are those of the reader's Worker
  }
  recordedAnswers(translations) {
    return new Map(translations.flatMap((both, i) => both.map((answer, attends) =>
        [this.keyOf(attends, this.record.texts[i].source, []), readTranslation(answer)])));
  }
  keyOf(attends, text, forbidden) { return `${attends} ${text} ${forbidden}`; }
  get lastRecorded() { return this.record.states.length - 1; }
  get isComplete() { return this.states.length > this.lastRecorded; }
  // Whether the Worker can translate any text in the chosen state.
  get canTranslate() { return !isStill && (this.own || this.state.at === this.lastRecorded); }
  // The right translation, if the text is one of the record.
  reference() { return this.record.texts.find(({source}) => source === this.state.text)?.target; }

  // The Worker, with the recorded parameters as its present state.
  async startedWorker() {
    if (this.worker) return this.worker;
    this.worker = new HeedWorker();
    const bytes = bytesOf(this.record.packed);
    await this.worker.call('translators_load', [bytes.length, ...bytes]);
    return this.worker;
  }
  // The translation of the text in a state; undefined until the Worker has answered.
  translation(attends, text, forbidden) {
    const {answers} = this.states[this.state.at], key = this.keyOf(attends, text, forbidden);
    if (!answers.has(key) && this.canTranslate) {
      if (answers.size > 40) answers.clear();  // of a reader who tries everything
      answers.set(key, undefined);
      this.translate(this.own ? this.state.at : -1, attends, text, forbidden).then(answer => {
        answers.set(key, answer);
        this.ask();
      }, error => this.lose(error));
    }
    return answers.get(key);
  }
  async translate(state, attends, text, forbidden) {
    const worker = await this.startedWorker();
    const request = [state, attends, ...textNumbers(text), forbidden.length / 2, ...forbidden];
    return readTranslation(await worker.call('translators_translate', request));
  }
  // An error ends the instance of the Worker and with it what it learned.
  lose(error) {
    this.problem = error.message;
    this.stop();
    const {worker} = this;
    this.worker = undefined;
    worker?.end(error);
    this.begin();
    this.ask();
  }

  // Trains from the beginning, or goes on where it was stopped. Each state of the record has its counterpart.
  async learn() {
    this.running = this.follows = true;
    this.problem = undefined;
    if (this.isLearning) return;  // it was stopped, but has not ended yet, and goes on
    this.isLearning = true;
    if (!this.own || this.isComplete) {
      Object.assign(this, {own: true, states: [], losses: [], step: 0, time: 0});
      this.change({forbidden: []});
    }
    try {
      const worker = await this.startedWorker();
      while (this.running && !this.isComplete) {
        const left = this.record.states[this.states.length].step - this.step;
        if (left > 0 || !this.states.length) await this.some(worker, Math.min(this.record.every, left));
        if (left <= this.record.every) await this.keepState(worker);
      }
    } catch (error) {
      this.lose(error);
    }
    this.isLearning = false;
    this.stop();
  }
  // Some steps of training, and their mean losses.
  async some(worker, steps) {
    const begin = performance.now(), answer = await worker.call('translators_learn', [this.seed, this.step, steps]);
    this.time += performance.now() - begin;
    this.step = answer[0];
    const mean = which => range(steps).reduce((sum, i) => sum + answer[1 + 2 * i + which] / steps, 0);
    if (steps) this.losses.push([mean(0), mean(1)]);
    this.ask();
  }
  // Keeps the present state under its place on the slider.
  async keepState(worker) {
    const number = this.states.length, {step, time, state: {text}} = this, answers = new Map();
    await worker.call('translators_keep', [number]);
    const score = readScore(await worker.call('translators_score', [number]));
    for (const attends of [0, 1]) {
      const answer = await this.translate(number, attends, text, []);
      answers.set(this.keyOf(attends, text, []), answer);
      if (attends && answer.text === this.reference()) this.firstRight ??= {step, time};
    }
    this.states.push({step, score, answers, time});
    if (this.follows) this.change({at: number});
    if (still.matches && number) this.stop();  // without motion, a press goes on to the next state
  }
  stop() {
    this.running = false;
    this.ask();
  }
}
