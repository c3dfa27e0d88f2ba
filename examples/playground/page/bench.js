// The frame of a bench: question, picture and controls, goals, what was found, the way to the guide. One bench is one
// element, <heed-bench name="regression" at="C-000-15">, and one file that registers a class:
//
//   bench('regression', class extends Bench {
//     static defaults = {...};       // the state that the fragment of the address keeps: numbers, texts, lists of numbers
//     static functions = [...];      // of heed, if they are not the one of the same name
//     static question = {answers: ['up', 'sideways'], right: 'sideways'};
//     static goals = ['mean', ...];
//     static concepts = ['1_kernel_regression#C-000-11', ...];
//     setup(stage) {...}             // builds pictures and controls, once and after a change of language
//     see() {...}                    // computes and draws, in the next frame after change()
//     program() {...}                // the text of a C++ program that does the same
//     table() {...}                  // [names, rows]: the numbers behind the picture
//   });
//
// Words are in strings.LANGUAGE.json: regression.title, .lead, .question, .answer.up, .try, .because, .goal.mean,
// .found.mean, .concept.C-000-11, and those that the bench asks for.

const strings = JSON.parse(document.getElementById('strings').textContent);
const defaults = JSON.parse(document.getElementById('defaults').textContent);
const languages = {en: 'en', zh: 'zh-CN'};
const benches = {};
const bench = (name, kind) => { benches[name] = kind; };

// The request with which a function's bench begins: the native program writes it, here and in its JSON.
const firstRequest = name => defaults[name].request;

// heed itself. Where WebAssembly cannot run, the answers of the native program to the first requests: a still picture.
// A loop, since Uint8Array.from takes 0.2 s for the 2 MB.
function bytesOf(base64) {
  const text = atob(base64.trim()), bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}
let isStill = false;
const heed = (() => {
  try {
    return globalThis.heed ?? loadHeed(bytesOf(document.getElementById('wasm').textContent));
  } catch (error) {
    console.warn(error.message);
    isStill = true;
    return {call: name => Float32Array.from(defaults[name]?.answer ?? [])};
  }
})();

// The fragment of the address: lang=zh&regression.w=2.5. What equals the default is not in it, so that links stay short.
const fragment = new URLSearchParams(location.hash.slice(1));
let language = fragment.get('lang') ?? (navigator.language.startsWith('zh') ? 'zh' : 'en');
if (!strings[language]) language = 'en';
let writing = 0;
function keep(key, value) {
  if (value === undefined) fragment.delete(key);
  else fragment.set(key, value);
  clearTimeout(writing);
  writing = setTimeout(() => history.replaceState(null, '', '#' + fragment.toString().replaceAll('%2C', ',')), 300);
}

// The words of a key in the reader's language, {name} replaced by a value.
function word(key, values = {}) {
  const text = strings[language][key];
  if (text === undefined) throw new Error(`no words for ${key} in ${language}`);
  return text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
}

// A line for screen readers and the eye, at most one a second: the latest counts.
class LiveLine {
  constructor() {
    this.node = html('p', {class: 'said', role: 'status', 'aria-live': 'polite'});
    this.last = 0;
  }
  say(text) {
    this.text = text;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.last = performance.now();
      if (this.node.textContent !== this.text) this.node.textContent = this.text;
    }, Math.max(0, 1000 - (performance.now() - this.last)));
  }
}

class Bench {
  constructor(element, name) {
    Object.assign(this, {element, name, kind: benches[name]});
    this.state = structuredClone(this.kind.defaults);
    for (const [key, value] of Object.entries(this.state)) {
      const text = fragment.get(`${name}.${key}`);
      if (text === null) continue;
      if (Array.isArray(value)) this.state[key] = text === '' ? [] : text.split(',').map(Number);
      else this.state[key] = typeof value === 'number' ? Number(text) : text;
    }
    this.guess = fragment.get(`${name}.guess`);
    this.reached = new Set();
    this.seen = false;  // whether the picture has answered the question
  }
  word(key, values) { return word(`${this.name}.${key}`, values); }

  // Changes the state, keeps it in the fragment, and draws in the next frame.
  change(part) {
    Object.assign(this.state, part);
    for (const [key, value] of Object.entries(part)) {
      const text = String(value), usual = String(this.kind.defaults[key]);
      keep(`${this.name}.${key}`, text === usual ? undefined : text);
    }
    this.ask();
  }
  ask() { if (this.ready) this.frame ??= requestAnimationFrame(() => this.show()); }
  show() {
    this.frame = undefined;
    try {
      this.see();
      this.fault.textContent = '';
    } catch (error) {
      this.fault.textContent = word('page.fault', {message: error.message});
      if (error.name !== 'Error') console.error(error);  // a mistake of this page, not a message of heed
    }
    for (const part of this.behind) if (part.node.open) part.fill();
  }

  build() {
    this.fault = html('p', {class: 'fault', role: 'alert'});
    this.line ??= new LiveLine();
    const stage = html('div', {class: 'stage'});
    this.behind = [this.numbers(), this.code()];
    const guided = this.element.hasAttribute('at');  // beneath its concept in the guide
    this.element.replaceChildren(
        html(guided ? 'h3' : 'h2', {id: this.name}, this.word('title')), html('p', {class: 'lead'}, this.word('lead')),
        this.questionBox(), stage, this.line.node, this.fault, this.goalBox(),
        guided ? '' : html('p', {class: 'read'}, word('page.read'), this.conceptLinks()), ...this.behind.map(part => part.node));
    if (isStill) stage.append(html('p', {class: 'fault'}, word('page.without')));
    this.ready = !isStill || this.kind.still || Boolean(defaults[this.name]?.answer);
    if (!this.ready) return;
    this.setup(stage);
    this.ask();
  }

  // The question comes first; the picture answers it when the reader has done what `try` says.
  questionBox() {
    const {question} = this.kind;
    if (!question) return undefined;
    this.verdict = html('p', {class: 'verdict', role: 'status'});
    this.answers = question.answers.map(answer => button(this.word('answer.' + answer), () => {
      this.guess = answer;
      keep(`${this.name}.guess`, answer);
      this.tellVerdict();
    }));
    const box = html('div', {class: 'question', role: 'group', 'aria-label': word('page.question')},
                     html('p', {}, html('b', {}, word('page.question') + ' '), this.word('question')),
                     html('div', {class: 'row'}, this.answers), this.verdict);
    this.tellVerdict();
    return box;
  }
  tellVerdict() {
    const {answers, right} = this.kind.question;
    this.answers.forEach((node, i) => {
      node.setAttribute('aria-pressed', answers[i] === this.guess);
      node.classList.toggle('right', this.seen && answers[i] === right);
    });
    const told = this.guess && this.seen;
    this.verdict.textContent = !this.guess ? (this.seen ? this.word('because') : '')
        : told ? word(this.guess === right ? 'page.right' : 'page.wrong') + this.word('because') : this.word('try');
  }
  // The bench calls this when its picture has shown the answer.
  answered() {
    if (this.seen) return;
    this.seen = true;
    this.tellVerdict();
  }

  goalBox() {
    this.goals = Object.fromEntries((this.kind.goals ?? []).map(goal => [goal, html('li', {})]));
    for (const goal of Object.keys(this.goals)) this.tellGoal(goal);
    return html('div', {class: 'goals'}, html('b', {}, word('page.goals')), html('ul', {}, Object.values(this.goals)));
  }
  tellGoal(goal) {
    const reached = this.reached.has(goal), node = this.goals[goal];
    node.classList.toggle('reached', reached);
    node.replaceChildren(html('span', {}, this.word('goal.' + goal)),
                         ...reached ? [html('p', {class: 'found'}, word('page.found') + this.word('found.' + goal))] : []);
  }
  // The bench calls this when the reader has reached a goal.
  reach(goal) {
    if (this.reached.has(goal)) return;
    this.reached.add(goal);
    this.tellGoal(goal);
    this.line.say(word('page.reached') + this.word('found.' + goal));
  }

  conceptLinks() {
    return this.kind.concepts.map((concept, i) => {
      const [chapter, id] = concept.split('#'), suffix = language === 'zh' ? '.zh.html' : '.html';
      return [i ? word('page.comma') : '', html('a', {href: `../guide/${chapter}${suffix}${id ? '#' + id : ''}`},
                                                this.word('concept.' + (id ?? chapter)))];
    });
  }

  // Parts that are filled only while they are open.
  behindPart(name, node, fillIn) {
    const details = html('details', {ontoggle: () => { if (details.open) fillIn(); }}, html('summary', {}, name), node);
    return {node: details, fill: fillIn};
  }
  numbers() {
    const body = html('tbody'), head = html('thead'), table = html('table', {}, head, body);
    return this.behindPart(word('page.table'), html('div', {class: 'scroll', tabindex: 0, role: 'region',
                                                            'aria-label': word('page.table')}, table), () => {
      const [names, rows] = this.table();
      head.replaceChildren(html('tr', {}, names.map(name => html('th', {scope: 'col'}, name))));
      body.replaceChildren(...rows.map(row => html('tr', {}, row.map(value => html('td', {}, String(value))))));
    });
  }
  code() {
    const text = html('code'), copy = button(word('page.copy'), () => navigator.clipboard?.writeText(text.textContent));
    return this.behindPart(word('page.code'), html('div', {}, html('p', {}, word('page.code.run', {name: this.name})), copy,
        html('pre', {tabindex: 0}, text)), () => { text.textContent = this.program(); });
  }
}

// The element. It may be in the page before its bench is registered, so it waits for the end of the script. Its picture is
// drawn anew when its width changes.
customElements.define('heed-bench', class extends HTMLElement {
  connectedCallback() { queueMicrotask(() => this.begin()); }
  begin() {
    if (!document.getElementById('hatch')) document.body.append(hatch());
    const name = this.getAttribute('name');
    this.bench = new benches[name](this, name);
    this.bench.build();
    let width = 0;
    new ResizeObserver(() => {
      if (this.clientWidth !== width) this.bench.ask();
      width = this.clientWidth;
    }).observe(this);
    dark.addEventListener('change', () => this.bench.ask());
  }
});

// A text as numbers, and numbers read one after another.
const textNumbers = text => { const bytes = new TextEncoder().encode(text); return [bytes.length, ...bytes]; };
class NumberReader {
  constructor(numbers) { Object.assign(this, {numbers, at: 0}); }
  one() { return this.numbers[this.at++]; }
  many(count) { return this.numbers.slice(this.at, this.at += count); }
  values() {
    const size = this.one();
    return {sizes: size ? [size] : [], values: this.many(size || 1)};
  }
  text() { return new TextDecoder().decode(Uint8Array.from(this.many(this.one()))); }
  list(read) { return range(this.one()).map(() => read()); }
}

// Numbers as C++ writes them in a program: 0.5, 3.0 as 3.
const cppNumber = value => String(+(+value).toPrecision(6));
const cppList = values => `{${values.map(cppNumber).join(', ')}}`;
// A list broken into lines of at most 100 letters.
function cppLines(values, indent = '      ') {
  const lines = [''];
  for (const [i, value] of values.entries()) {
    const part = cppNumber(value) + (i + 1 < values.length ? ',' : '');
    if ((lines.at(-1) + part).length > 94) lines.push('');
    lines[lines.length - 1] += (lines.at(-1) ? ' ' : '') + part;
  }
  return `{\n${lines.map(line => indent + line).join('\n')}}`;
}
