// Plays a run: keeps its steps, moves through them, and writes text, measures, legend and inspector around the tree.
// Messages are what specviz/payload.py writes. Token text only ever becomes text nodes.

function specvizPlayer(element, server = {}) {
  const $ = name => element.querySelector(`.sv-${name}`);
  const inspector = specvizInspector(element);
  const tree = specvizTree($('svg'), { hover: key => inspect(key ?? pinned), pick: pin });
  const growth = specvizGrowth(element, { draw: () => schedule(), say });
  const left = new Set(); // runs that made room for one from a file
  let run, current, follow, playing, pinned, timer, frame, wanted = null;
  start(null);
  specvizKeep(element, server, { shown: () => ({ run, step: run.steps[current] }), say, replace });

  // ---- what arrives ----

  function start(name) {
    run = { name, steps: [], head: {}, state: '', note: '', plain: null, spans: [],
      tokens: 0, timed: 0, accepted: 0, compared: 0, seconds: [0, 0, 0, 0], rated: 0 };
    current = -1;
    follow = true;
    pinned = null;
    pause();
    tree.clear();
    $('expand').setAttribute('aria-pressed', false);
    $('prompt').textContent = '';
    $('ribbon').replaceChildren($('prompt'));
  }

  function receive(text) {
    if (!text) return;
    const news = JSON.parse(text);
    if (left.has(news.run)) return;
    if (news.run && news.run !== run.name) {
      if (run.name && innerWidth < 760) element.scrollIntoView({ block: 'start' }); // on a phone Run is far below
      start(news.run);
    }
    if (news.head) {
      run.head = news.head;
      $('prompt').textContent = news.head.prompt;
    }
    if (news.state) { // what is stopped while it waits or loads leaves the run on the screen as it was
      run.state = news.state === 'stopped' && run.state !== 'running' ? 'done' : news.state;
      run.note = news.note || '';
    }
    if (news.same) run.same = news.same;
    if (news.state === 'stopped' && run.same && run.same.kind === 'checking') run.same = { kind: 'stopped', text: 'Comparison with plain decoding stopped.' };
    if (news.plain_rate) run.plain = news.plain_rate;
    for (const step of news.steps) if (!run.steps[step.index]) add(step);
    if (run.head.show !== undefined && current < 0 && run.steps.length) {
      follow = false;
      current = run.head.show;
    }
    if (follow) current = run.steps.length - 1;
    arrive();
    schedule();
  }

  function arrive() { // where the link of the page leads, as soon as the run it means is that far
    if (!wanted || wanted.of !== kind() || !run.steps.length) return;
    if (wanted.index >= run.steps.length && !['done', 'stopped', 'error'].includes(run.state)) return;
    const place = specvizPlaceIn(run.steps, wanted);
    wanted = null;
    go(place.index, place.key);
    follow = false;
    if (place.key !== null) requestAnimationFrame(() => { if (!element.querySelector('.node.selected')) expand(); }); // it is folded away
  }

  const kind = () => (run.name || '').split(' ')[0]; // "recorded", "run", "file" or "lesson"

  function replace(text) {
    left.add(run.name);
    receive(text);
  }

  function add(step) {
    run.steps[step.index] = step;
    step.detail ??= {};
    const path = [...step.outcome].reduce((nodes, letter, i) => (letter === 'a' ? [...nodes, i] : nodes), []);
    step.path = path;
    run.tokens += step.pieces.length;
    run.accepted += path.length;
    for (const letter of step.outcome) if ('axp'.includes(letter)) run.compared++;
    if (step.index > 0 || run.rated) { // the first step also reads the prompt
      run.timed += step.pieces.length;
      step.seconds.forEach((value, i) => { run.seconds[i] += value; });
      run.rated++;
    }
    const spans = step.pieces.map((piece, i) => {
      const span = document.createElement('span');
      const own = step.last && i === step.pieces.length - 1;
      span.className = own ? step.last : 'accepted';
      if (/^\s*\n\s*$/.test(piece)) span.classList.add('newline');
      span.dataset.step = step.index;
      span.dataset.key = own ? 'last' : String(path[i]);
      span.textContent = piece;
      return span;
    });
    run.spans[step.index] = spans;
    $('ribbon').append(...spans);
  }

  // ---- drawing: at most once a frame ----

  function schedule() {
    if (!frame) frame = requestAnimationFrame(() => { frame = null; render(); });
  }

  function render() {
    const step = run.steps[current];
    header();
    measures();
    $('scrub').max = Math.max(0, run.steps.length - 1);
    $('scrub').value = Math.max(0, current);
    $('scrub').setAttribute('aria-valuetext', step ? `step ${current + 1} of ${run.steps.length}` : 'no step yet');
    $('where').textContent = step ? `step ${current + 1} of ${run.steps.length}` : 'no step yet';
    const moving = playing || growth.playing;
    $('play').textContent = moving ? '❚❚ Pause' : '▶ Play';
    $('play').setAttribute('aria-label', moving ? 'pause' : 'play');
    ribbon();
    if (!step) return;
    if (growth.step && growth.step !== step) growth.stop();
    $('grow').hidden = !specvizGrows(step);
    tree.show(step, growth.frame());
    tree.select(pinned);
    $('svg').dataset.place = specvizPlaceText(current, pinned);
    $('svg').dataset.of = kind();
    legend(step);
    inspect(pinned);
    if (!growth.step && (run.state !== 'running' || playing || !follow)) say(specvizSentence(step));
  }

  function say(text) {
    if ($('live').textContent !== text) $('live').textContent = text;
  }

  function header() {
    $('recorded').hidden = !run.head.recorded;
    $('recorded').textContent = run.head.badge || 'recorded run';
    $('lossy').hidden = !run.head.lossy;
    $('lossy').title = run.head.lossy || '';
    $('title-line').textContent = [run.head.title, run.head.pair].filter(Boolean).join(' · ');
    const words = { loading: 'loading', running: 'running', done: '', stopped: `stopped after ${run.steps.length} steps`, error: '' };
    const state = run.note || words[run.state] || '';
    if ($('state').textContent !== state) $('state').textContent = state; // a screen reader reads every change
    $('state').dataset.state = run.state;
    $('same').hidden = !run.same;
    if (run.same && $('same').textContent !== run.same.text) $('same').textContent = run.same.text;
    $('same').dataset.kind = run.same ? run.same.kind : '';
  }

  function ribbon() {
    run.spans.forEach((spans, i) => spans.forEach(span => {
      span.classList.toggle('later', i > current);
      span.classList.toggle('here', i === current);
    }));
    const last = (run.spans[current] || []).at(-1), box = $('ribbon');
    if (!last) return;
    const top = last.offsetTop - box.offsetTop, height = last.offsetHeight;
    if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight + 8;
    else if (top < box.scrollTop) box.scrollTop = Math.max(0, top - 8);
  }

  function measures() {
    const count = run.steps.length, total = run.seconds.reduce((sum, value) => sum + value, 0);
    const rate = total > 0 ? run.timed / total : null;
    put('per-pass', count ? (run.tokens / count).toFixed(2) : '–', `${run.tokens} tokens in ${count} passes`);
    put('acceptance', run.compared ? `${Math.round(100 * run.accepted / run.compared)} %` : '–',
      `${run.accepted} of ${run.compared} compared`);
    put('rate', rate ? number(rate) : '–', run.head.recorded ? 'when it was recorded' : 'on this machine');
    put('speedup', rate && run.plain ? `${(rate / run.plain).toFixed(2)}×` : '–',
      run.plain ? `plain: ${number(run.plain)} tokens/s` : run.head.recorded ? 'not recorded' : 'when the run ends');
    const parts = ['draft', 'target', 'verify', 'other'];
    parts.forEach((part, i) => {
      element.querySelector(`.sv-time-bar .${part}`).style.flexGrow = total ? run.seconds[i] / total : 0;
      element.querySelector(`.sv-time-key .${part}`).textContent =
        run.rated ? `${part} ${milliseconds(run.seconds[i] / run.rated)}` : part;
    });
    $('time-line').textContent = run.rated ? `a step takes ${milliseconds(total / run.rated)} ms` : "a step's time";
  }

  function put(name, value, note) {
    $(name).textContent = value;
    $(`${name}-of`).textContent = note;
  }

  const number = value => value.toFixed(value < 100 ? 1 : 0);
  const milliseconds = value => (1000 * value).toFixed(1);

  function legend(step) {
    for (const item of element.querySelectorAll('.sv-legend [data-letter]')) {
      const count = [...step.outcome].filter(letter => letter === item.dataset.letter).length;
      item.querySelector('b').textContent = count;
      item.hidden = item.dataset.letter === 'p' && !count;
    }
    $('sum').querySelector('b').textContent = step.outcome.length;
    const last = $('last');
    last.hidden = !step.last;
    last.querySelector('svg').setAttribute('class', `node ${step.last}`);
    last.querySelector('span').textContent = `${step.last} (not a node)`;
  }

  // ---- the selected node ----

  const inspect = key => inspector.show(run.steps[current], current, key);

  function pin(key, look = false) {
    pinned = key;
    tree.select(key, look);
    if (run.steps.length) $('svg').dataset.place = specvizPlaceText(current, key);
    inspect(key);
    if (key !== null) say(inspector.spoken());
  }

  // ---- moving about ----

  function go(index, key = null) {
    if (!run.steps.length) return;
    current = Math.min(run.steps.length - 1, Math.max(0, index));
    follow = current === run.steps.length - 1 && run.state === 'running';
    pinned = key;
    schedule();
  }

  function pause() {
    clearTimeout(timer);
    playing = false;
  }

  function play() {
    if (!run.steps.length) return;
    if (current >= run.steps.length - 1 && run.state !== 'running') current = -1;
    playing = true;
    tick();
  }

  function tick() {
    if (!element.isConnected) return pause();
    if (current < run.steps.length - 1) go(current + 1);
    else if (run.state !== 'running') pause();
    schedule();
    if (playing) timer = setTimeout(tick, 1000 / Number($('speed').value));
  }

  function grow() {
    if (growth.step) return growth.stop();
    pause();
    follow = false;
    growth.start(run.steps[current], run.head.key);
  }

  function toggle() {
    if (growth.step) return growth.toggle();
    if (playing || (run.state === 'running' && follow)) {
      pause();
      follow = false;
    } else play();
    schedule();
  }

  const step = by => {
    if (growth.step) return growth.move(by);
    pause();
    go(current + by);
  };
  const expand = () => $('expand').setAttribute('aria-pressed', tree.toggle());
  const clicks = { back: () => step(-1), forward: () => step(1), play: toggle, grow, expand, in: () => tree.zoom(1.25),
    out: () => tree.zoom(0.8), reset: tree.reset };
  for (const [name, act] of Object.entries(clicks)) $(name).addEventListener('click', act);
  $('scrub').addEventListener('input', () => { pause(); go(Number($('scrub').value)); });
  $('ribbon').addEventListener('click', event => {
    const span = event.target.closest('[data-step]');
    if (!span) return;
    pause();
    go(Number(span.dataset.step), span.dataset.key);
  });

  function walk(way) {
    const key = tree.walk(way);
    if (key !== null) pin(key, true);
  }

  function onKey(event) {
    if (!element.isConnected) return document.removeEventListener('keydown', onKey);
    const at = event.target, typed = at.matches('input, textarea, select, [contenteditable], [role=tab], [role=option]');
    if (event.ctrlKey || event.metaKey || event.altKey || (typed && at !== $('scrub'))) return;
    if (at.matches('button, summary, a') && (event.key === ' ' || event.key === 'Enter')) return;
    if (!$('canvas').offsetParent) return; // another tab is open
    const up = at === $('svg') || event.shiftKey || pinned !== null; // else up and down scroll the page
    const acts = {
      ArrowLeft: () => (event.shiftKey ? walk('parent') : step(-1)),
      ArrowRight: () => (event.shiftKey ? walk('child') : step(1)),
      ArrowUp: up && (() => walk('up')),
      ArrowDown: up && (() => walk('down')),
      ' ': toggle,
      g: grow,
      G: grow,
      e: expand,
      E: expand,
      0: tree.reset,
      Enter: () => { if (pinned !== null) tree.unfold(pinned); },
      Escape: () => (growth.step ? growth.stop() : pin(null)),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  }
  document.addEventListener('keydown', onKey);

  return { receive, show: (index, key = null) => { pause(); go(index, key); }, expect: place => { wanted = place; } };
}
