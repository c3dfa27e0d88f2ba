// The frame of a bench: question, picture and controls, goals, what was found, the way to the guide. One bench is one
// element, <heed-bench name="regression" at="C-000-15">, and one file that registers a class:
//
//   bench('regression', class extends Bench {
//     static defaults = {...};       // the state, which the address keeps: numbers, texts, lists of numbers
//     static functions = [...];      // of heed, if they are not the one of the same name
//     static question = {answers: ['up', 'sideways'], right: 'sideways'};
//     static goals = ['mean', ...];
//     static concepts = ['1_kernel_regression#C-000-11', ...];
//     setup(stage) {...}             // builds pictures and controls, once and after a change of language
//     see() {...}                    // computes and draws, in the next frame after change()
//     program() {...}                // the text of a C++ program that does the same
//     tables() {...}                 // [title, names, rows] of each: the numbers behind the pictures
//   });
//
// Words are in strings.LANGUAGE.json: regression.title, .lead, .question, .answer.up, .try, .because, .goal.mean,
// .found.mean, .concept.C-000-11, and those that the bench asks for.

// What the native program wrote in front of all scripts (page.cpp), and the record and playground.wasm.
const {strings, defaults} = given;
const languages = {en: 'en', zh: 'zh-CN'};
const benches = {};
const bench = (name, kind) => { benches[name] = kind; };

// The request with which a function's bench begins: the native program writes it, here and in its JSON.
const firstRequest = name => defaults[name].request;

// The bytes of a text in base64.
function bytesOf(base64) {
  const text = atob(base64.trim()), bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = text.charCodeAt(i);  // Uint8Array.from is slow
  return bytes;
}

// heed itself, which the page contains as base64 of gzip. Where WebAssembly cannot run, the answers of the native
// program to the first requests: a still picture.
let heed, wasm, isStill = false;
async function unpackHeed() {
  const unpacked = new Blob([bytesOf(given.wasm)]).stream().pipeThrough(new DecompressionStream('gzip'));
  wasm = await new Response(unpacked).arrayBuffer();
  return loadHeed(wasm);
}
const loaded = (async () => {
  try {
    heed = await unpackHeed();
  } catch (error) {
    console.warn(error.message);
    isStill = true;
    heed = {call: name => Float32Array.from(defaults[name]?.answer ?? [])};
  }
})();
// Whether playground.wasm has the functions of a bench; one that was built earlier may lack some.
const computes = name => !heed.names || (benches[name].functions ?? [name]).every(one => heed.names.includes(one));

// The fragment of the address: lang=zh&regression.w=2.5. What equals the default is not in it: links stay short.
const fragment = new URLSearchParams(location.hash.slice(1));
const inGuide = document.querySelector('heed-bench[at]') !== null;  // beneath concepts, in the language of the chapter
let language = inGuide ? document.documentElement.lang.slice(0, 2)
    : fragment.get('lang') ?? (navigator.language.startsWith('zh') ? 'zh' : 'en');
if (!strings[language]) language = 'en';
let writing = 0;
function keep(key, value, kept = fragment) {
  if (value === undefined) kept.delete(key);
  else kept.set(key, value);
  if (kept !== fragment) return;
  clearTimeout(writing);
  writing = setTimeout(() => history.replaceState(null, '', '#' + fragmentText(fragment)), 300);
}
const fragmentText = parts => parts.toString().replaceAll('%2C', ',');

// In the guide the fragment names a section, so each bench keeps its state to itself. It begins with that of the
// chapter, w=4&own=1, and a link leads to the same in the playground.
const situationOf = (name, text) =>
    new URLSearchParams([...new URLSearchParams(text)].map(([key, value]) => [`${name}.${key}`, value]));

// The words of a key in the reader's language, {name} replaced by a value.
function word(key, values = {}) {
  const text = strings[language][key];
  if (text === undefined) throw new Error(`no words for ${key} in ${language}`);
  return text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
}

// A line for screen readers and the eye, at most one a second: the latest counts, but what is important is said first.
class LiveLine {
  constructor() {
    this.node = html('p', {class: 'said', role: 'status', 'aria-live': 'polite'});
    this.last = 0;
    this.important = [];
  }
  say(text, isImportant) {
    if (!text) return;
    if (isImportant) this.important.push(text);
    else this.text = text;
    this.timer ??= setTimeout(() => this.show(), Math.max(0, 1000 - (performance.now() - this.last)));
  }
  show() {
    this.timer = undefined;
    this.last = performance.now();
    const text = this.important.shift() ?? this.text;
    if (this.node.textContent !== text) this.node.textContent = text;
    if (this.important.length || (this.text ?? text) !== text) this.timer = setTimeout(() => this.show(), 1000);
  }
}

class Bench {
  constructor(element, name) {
    Object.assign(this, {element, name, kind: benches[name]});
    this.guided = element.hasAttribute('at');
    this.kept = this.guided ? situationOf(name, element.getAttribute('state') ?? '') : fragment;
    const told = {}, list = text => text === '' ? [] : text.split(',');
    for (const [key, value] of Object.entries(this.kind.defaults)) {
      const text = this.kept.get(`${name}.${key}`);
      if (text === null) continue;
      told[key] = Array.isArray(value) ? list(text).map(Number) : typeof value === 'number' ? Number(text) : text;
    }
    this.state = {...structuredClone(this.usual({...this.kind.defaults, ...told})), ...told};
    this.guess = this.kept.get(`${name}.guess`);
    this.seen = this.kept.get(`${name}.seen`) === '1';  // whether the picture has answered the question
    this.reached = new Set(list(this.kept.get(`${name}.reached`) ?? ''));
  }
  // What the address need not say: the state at the beginning, which may depend on a preset.
  usual() { return this.kind.defaults; }
  word(key, values) { return word(`${this.name}.${key}`, values); }
  keep(key, value) { keep(`${this.name}.${key}`, value, this.kept); }

  // Changes the state, keeps it in the fragment, and draws in the next frame.
  change(part) {
    Object.assign(this.state, part);
    const usual = this.usual(this.state);
    for (const [key, value] of Object.entries(part)) {
      const text = String(value);
      this.keep(key, text === String(usual[key]) ? undefined : text);
    }
    this.ask();
  }
  ask() { if (this.ready) this.frame ??= requestAnimationFrame(() => this.show()); }
  show() {
    this.frame = undefined;
    try {
      this.see();
      this.isDrawn = true;
      this.fault.textContent = this.problem ? word('page.fault', {message: this.problem}) : '';
      for (const part of this.behind) if (part.node.open) part.fill();
    } catch (error) {
      this.fault.textContent = word('page.fault', {message: error.message});
      if (error.name !== 'Error') console.error(error);  // a mistake of this page, not a message of heed
    }
    if (this.guided) this.link.href = 'playground.html#' + this.linkFragment;
  }

  build() {
    const wereOpen = this.behind?.map(part => part.node.open);
    this.isDrawn = false;
    this.fault = html('p', {class: 'fault', role: 'alert'});
    this.line ??= new LiveLine();
    const stage = html('div', {class: 'stage'});
    this.behind = [this.numbers(), this.code()];
    wereOpen?.forEach((isOpen, i) => { this.behind[i].node.open = isOpen; });
    this.link = html('a', {}, word('page.open'));
    const title = this.guided ? html('h3', {}, this.word('title')) : html('h2', {id: this.name}, this.word('title'));
    this.element.replaceChildren(
        title, html('p', {class: 'lead'}, this.word('lead')), this.questionBox(), stage, this.fault, this.goalBox(),
        html('p', {class: 'read'}, this.guided ? this.link : [word('page.read'), this.conceptLinks()]),
        ...this.behind.map(part => part.node), ...this.guided ? [] : [this.linkButton()]);
    if (isStill) stage.append(html('p', {class: 'fault'}, word('page.without')));
    this.ready = !isStill || this.kind.still || Boolean(defaults[this.name]?.answer);
    if (!this.ready) return;
    this.setup(stage);
    (stage.querySelector('.pictures, figure') ?? stage.lastChild).after(this.line.node);
    this.ask();
  }

  // The question comes first; the picture answers it when the reader has done what `try` says.
  questionBox() {
    const {question} = this.kind;
    if (!question) return undefined;
    this.verdict = html('p', {class: 'verdict'});  // the line says it, too
    this.answers = question.answers.map(answer => button(this.word('answer.' + answer), () => {
      this.guess = answer;
      this.keep('guess', answer);
      this.tellVerdict();
      this.line.say(this.verdict.textContent, true);
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
    this.keep('seen', 1);
    this.tellVerdict();
    this.line.say(this.verdict.textContent, true);
  }

  goalBox() {
    this.goals = Object.fromEntries((this.kind.goals ?? []).map(goal => [goal, html('li', {})]));
    for (const goal of Object.keys(this.goals)) this.tellGoal(goal);
    return html('div', {class: 'goals'}, html('b', {}, word('page.goals')), html('ul', {}, Object.values(this.goals)));
  }
  tellGoal(goal) {
    const reached = this.reached.has(goal), node = this.goals[goal];
    node.classList.toggle('reached', reached);
    node.replaceChildren(html('span', {}, this.word('goal.' + goal)));
    if (reached) node.append(html('p', {class: 'found'}, word('page.found') + this.word('found.' + goal)));
  }
  // The bench calls this when the reader has reached a goal.
  reach(goal) {
    if (this.reached.has(goal)) return;
    this.reached.add(goal);
    this.keep('reached', [...this.reached]);
    this.tellGoal(goal);
    this.line.say(word('page.reached') + this.word('found.' + goal), true);
  }

  conceptLinks() {
    return this.kind.concepts.map((concept, i) => {
      const [chapter, id] = concept.split('#'), suffix = language === 'zh' ? '.zh.html' : '.html';
      return [i ? word('page.comma') : '', html('a', {href: `../guide/${chapter}${suffix}${id ? '#' + id : ''}`},
                                                this.word('concept.' + (id ?? chapter)))];
    });
  }

  // Parts that are filled only while they are open, once the bench is drawn.
  behindPart(name, node, fillIn) {
    const ontoggle = () => { if (details.open && this.isDrawn) fillIn(); };
    const details = html('details', {ontoggle}, html('summary', {}, name), node);
    return {node: details, fill: fillIn};
  }
  numbers() {
    const box = html('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': word('page.table')});
    const row = (values, cell) => html('tr', {}, values.map(cell));
    const table = ([title, names, rows]) => html('table', {}, html('caption', {}, title),
        html('thead', {}, row(names, name => html('th', {scope: 'col'}, name))),
        html('tbody', {}, rows.map(values => row(values, value => html('td', {}, String(value))))));
    return this.behindPart(word('page.table'), box, () => box.replaceChildren(...this.tables().map(table)));
  }
  code() {
    const text = html('code'), how = html('p', {}, word('page.code.run', {name: this.name}));
    // A browser may forbid it; the text is there to be selected.
    const copy = button(word('page.copy'), () => navigator.clipboard?.writeText(text.textContent).catch(() => {}));
    const show = () => { text.textContent = this.program(); };
    return this.behindPart(word('page.code'), html('div', {}, how, copy, html('pre', {tabindex: 0}, text)), show);
  }

  // The fragment of a link to this bench as it is now.
  get linkFragment() {
    const own = [...this.kept].filter(([key]) => key.startsWith(this.name + '.'));
    return fragmentText(new URLSearchParams([['at', this.name], ['lang', language], ...own]));
  }
  linkButton() {
    const copy = () => navigator.clipboard?.writeText(`${location.href.split('#')[0]}#${this.linkFragment}`)
        .then(() => this.line.say(word('page.linked')), () => {});
    return button(word('page.link'), copy);
  }
}

// The element. It may be in the page before its bench is registered, so it waits for the end of the script. Its
// picture is drawn anew when its width changes.
customElements.define('heed-bench', class extends HTMLElement {
  connectedCallback() { loaded.then(() => this.begin()); }
  begin() {
    const name = this.getAttribute('name');
    if (this.hasAttribute('at') && (isStill || !computes(name))) return;  // the still picture of the guide stays
    this.classList.add('live');
    if (!document.getElementById('hatch')) document.body.append(hatch());
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
