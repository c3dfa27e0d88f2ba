// What the reader's hand is on: handles in pictures, sliders, choices and buttons. Each can be used by mouse, finger
// and keyboard, and says its value.

// Something to drag in a Plot: a focusable slider around a place.
//   at()            its place in numbers of the axes
//   move(x, y)      the reader wants it there; keys: by `step`, ten times that with Shift
//   label(), text() its name and its value for a screen reader;  value() one number
//   home(end)       Home (false) and End (true)
//   key(event)      other keys; returns true if it used the key
//   dense           one of many: a finger chooses it first and drags it then, so that scrolling is never caught
class Handle {
  constructor(plot, shape, options) {
    Object.assign(this, {plot, ...options});
    this.hit = svg('circle', {class: 'hit', r: 22});
    this.node = svg('g', {role: 'slider', tabindex: this.dense ? -1 : 0, class: `handle ${options.name ?? ''}`,
                          onkeydown: event => this.press(event), onfocus: () => this.focused?.()}, this.hit, shape);
    plot.handles.push(this);
    plot.front.append(this.node);
  }
  // Shows the present place and value.
  update() {
    const [x, y] = this.at();
    fill(this.node, {transform: `translate(${this.plot.px(x)} ${this.plot.py(y)})`, 'aria-label': this.label(),
                     'aria-valuenow': +this.value().toPrecision(4), 'aria-valuetext': this.text()}, []);
  }
  choose(chosen) {
    this.chosen = chosen;
    this.node.classList.toggle('chosen', chosen);
    this.node.setAttribute('tabindex', chosen || !this.dense ? 0 : -1);
  }
  press(event) {
    const [dx, dy] = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key] ?? [];
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (dx !== undefined) {
      const times = event.shiftKey ? 10 : 1, [x, y] = this.at(), [sx, sy] = this.step();
      this.move(x + dx * sx * times, y + dy * sy * times, {dx, dy, times});
    } else if (event.key === 'Home' || event.key === 'End') {
      this.home(event.key === 'End');
    } else if (!this.key?.(event)) {
      return;
    }
    event.preventDefault();
  }
  remove() {
    this.node.remove();
    this.plot.handles.splice(this.plot.handles.indexOf(this), 1);
  }
}

// The pointer takes the nearest handle within 22 pixels: a target of 44, however close they are.
function catchPointers(plot) {
  let held = null, waiting = null, offset = [0, 0];
  const place = event => {
    const box = plot.svg.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const nearest = (x, y) => {
    let best = null, least = 22;
    for (const handle of plot.handles) {
      const [hx, hy] = handle.at(), far = Math.hypot(plot.px(hx) - x, plot.py(hy) - y) - (handle.first ? 8 : 0);
      if (far <= least) [best, least] = [handle, far];
    }
    return best;
  };
  plot.svg.addEventListener('pointerdown', event => {
    if (event.button !== 0) return;
    const [x, y] = place(event), handle = nearest(x, y);
    if (!handle) return;
    event.preventDefault();
    if (event.pointerType === 'touch' && handle.dense && !handle.chosen) {
      waiting = handle;  // a tap chooses it; a finger that scrolls leaves it
      return;
    }
    handle.node.focus({preventScroll: true});
    held = handle;
    const [hx, hy] = handle.at();
    offset = [plot.px(hx) - x, plot.py(hy) - y];
    plot.svg.setPointerCapture(event.pointerId);
  });
  plot.svg.addEventListener('pointermove', event => {
    if (!held) return;
    const [x, y] = place(event);
    held.move(...plot.at(x + offset[0], y + offset[1]));
  });
  for (const end of ['pointerup', 'pointercancel']) plot.svg.addEventListener(end, () => {
    held?.dropped?.();
    if (end === 'pointerup') waiting?.node.focus({preventScroll: true});
    held = waiting = null;
  });
}

// A slider with its name and its value in words.
//   text(value)    the value as the reader sees it; change(value) is called while it moves
// A finger that scrolls the page moves the thumb at its first touch; the value returns when the browser takes over.
function slider({name, min, max, step, value, text, change}) {
  const output = html('output', {'aria-live': 'off'}, text(value));  // the slider itself says its value
  const set = value => { input.value = value; show(+input.value); change(+input.value); };
  let before = value;
  const input = html('input', {type: 'range', min, max, step, value, 'data-key': name, 'aria-valuetext': text(value),
                               oninput: () => set(input.value), onkeydown: event => leap(event),
                               onpointerdown: () => { before = +input.value; },
                               onpointercancel: () => { if (+input.value !== before) set(before); }});
  // With Shift an arrow key makes ten steps.
  const leap = event => {
    const way = {ArrowLeft: -10, ArrowDown: -10, ArrowRight: 10, ArrowUp: 10}[event.key];
    if (!way || !event.shiftKey) return;
    event.preventDefault();
    set(+input.value + way * step);
  };
  const show = value => {
    if (+input.value !== value) input.value = value;
    output.textContent = text(value);
    input.setAttribute('aria-valuetext', text(value));
  };
  return {node: html('label', {class: 'slider'}, html('span', {}, name), output, input), show, input};
}

// The cell of a matrix beside [row, column] in the direction of an arrow key; undefined for another key.
function cellBeside([row, column], key, matrix) {
  const [down, right] = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[key] ?? [];
  if (down === undefined) return undefined;
  return [clamp(row + down, 0, matrix.length - 1), clamp(column + right, 0, matrix[0].length - 1)];
}

const button = (name, press, attributes = {}) =>
    html('button', {type: 'button', 'data-key': name, onclick: press, ...attributes}, name);

// One of several, all of them visible: options are [value, words].
function choice({name, options, value, change}) {
  const buttons = options.map(([one, words]) =>
      button(words, () => { show(one); change(one); }, {role: 'radio', 'data-key': name + one}));
  const show = value => buttons.forEach((node, i) => {
    node.setAttribute('aria-checked', options[i][0] === value);
    node.tabIndex = options[i][0] === value ? 0 : -1;
  });
  const turn = event => {
    const by = {ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1}[event.key];
    if (!by) return;
    event.preventDefault();
    const next = buttons[(buttons.indexOf(document.activeElement) + by + buttons.length) % buttons.length];
    next.focus();
    next.click();
  };
  show(value);
  return {node: html('div', {class: 'choice', role: 'radiogroup', 'aria-label': name, onkeydown: turn},
                     html('span', {}, name), html('div', {}, buttons)), show};
}

// A switch between yes and no.
function toggle({name, value, change}) {
  const input = html('input', {type: 'checkbox', 'data-key': name, onchange: () => change(input.checked)});
  input.checked = value;
  return {node: html('label', {class: 'toggle'}, input, html('span', {}, name)), show: on => { input.checked = on; }};
}

// Calls f with the time of each frame until it returns false. Without motion, one call is a step.
const still = matchMedia('(prefers-reduced-motion: reduce)');
function animate(f) {
  let running = true;
  const frame = () => {
    if (running && f() && !still.matches) requestAnimationFrame(frame);
    else running = false;
  };
  requestAnimationFrame(frame);
  return {stop() { running = false; }, get running() { return running; }};
}
