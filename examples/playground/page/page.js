// The page of all benches: words, the switch of the language, and the list of benches.

// Every word of the page in the present language. State, place and focus stay.
function showLanguage() {
  document.documentElement.lang = languages[language];
  document.title = word('page.title');
  for (const node of document.querySelectorAll('[data-word]')) node.textContent = word(node.dataset.word);
  const nav = document.querySelector('nav');
  nav.setAttribute('aria-label', word(nav.dataset.label));
  const links = [...document.querySelectorAll('heed-bench')].map(element => {
    const name = element.getAttribute('name'), follow = event => { event.preventDefault(); go(name); };
    return html('a', {href: '#' + name, onclick: follow, title: word(name + '.title')}, word(name + '.short'));
  });
  const [other] = Object.keys(languages).filter(one => one !== language);
  const turn = button(word('page.language.' + other), () => switchTo(other), {lang: languages[other]});
  nav.replaceChildren(html('div', {}, links), turn);
}

// The bench that is in view keeps its place in the window while all words change.
function switchTo(other) {
  const all = [...document.querySelectorAll('heed-bench')];
  const inView = all.find(element => element.getBoundingClientRect().bottom > 80);
  const share = (80 - inView.getBoundingClientRect().top) / inView.offsetHeight;
  language = other;
  keep('lang', other);
  for (const element of all) element.bench.build();
  showLanguage();
  document.querySelector('nav button').focus({preventScroll: true});
  requestAnimationFrame(() => requestAnimationFrame(() =>
      scrollBy(0, inView.getBoundingClientRect().top + share * inView.offsetHeight - 80)));
}

// A link to a bench: #regression leads there, and so does at=regression beside a state.
function go(name) {
  keep('at', name);
  document.getElementById(name)?.scrollIntoView();
}

// A bench whose functions are not in playground.wasm is left out.
loaded.then(() => {
  for (const name of Object.keys(benches).filter(computes))
    document.querySelector('main').append(html('heed-bench', {name}));
  showLanguage();
  addEventListener('hashchange', () => location.reload());  // another link in the same tab
  const wanted = fragment.get('at') ?? location.hash.slice(1);
  if (benches[wanted]) requestAnimationFrame(() => document.getElementById(wanted).scrollIntoView());
});
