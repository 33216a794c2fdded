// The comparison: runs that were decoded one after the other, replayed together on a shared clock. Each has a column
// with its text and its tree at that time; the race, what is said of the texts and the table stand around them.
// Messages are what app/compare/runs.py writes. Token text only ever becomes text nodes.

const SPEEDS = [1, 0.5, 0.25, 0.1, 0.05, 0.02];
const SHORTEST = 4; // seconds that a replay takes at least, as long as nobody chose a speed
const FIGURES = [
  ['tokens written', 'tokens', (f, number) => `${f.tokens} in ${f.passes} ${f.passes === 1 ? 'pass' : 'passes'}`],
  ['tokens per pass', 'per_pass', f => f.per_pass.toFixed(2)],
  ['acceptance', 'acceptance', f => `${Math.round(100 * f.acceptance)} %`, f => `${f.accepted} of ${f.compared} compared`],
  ['milliseconds per token', 'token_ms', f => f.token_ms.toFixed(2)],
  ['tokens per second', 'rate', f => f.rate.toFixed(f.rate < 100 ? 1 : 0)],
];
const PARTS = ['draft', 'target', 'verify', 'other'];

function specvizCompare(element, fetchRecorded) {
  const root = element.querySelector('.sv-compare'), $ = name => root.querySelector(`.sv-${name}`);
  const race = specvizRace($('race-svg'), seconds => { pause(); seek(seconds); });
  let run = { name: null, columns: [] }, time = 0, follow = false, playing = false, frame, before, chosen = false;

  fetchRecorded().then(text => { if (run.name === null) receive(text); }).catch(() => {
    if (run.name === null) say($('state'), 'The recorded runs did not arrive. Run all still works.');
  });

  // ---- what arrives ----

  function receive(text) {
    if (!text) return;
    const news = JSON.parse(text);
    if (news.columns) start(news);
    else if (news.run && news.run !== run.name) return;
    for (const item of news.news || []) take(run.columns[item.at], item);
    if (news.state === 'stopped') for (const column of run.columns) {
      if (column.state === 'running' || column.state === 'waiting') column.state = column.steps.length ? 'stopped' : 'never';
    }
    if (news.state) {
      run.note = news.note || '';
      const was = run.state;
      run.state = news.state === 'stopped' && was !== 'running' ? 'done' : news.state === 'loading' ? was : news.state;
      if (was === 'running' && run.state !== 'running') ended();
    }
    if (follow) time = limit();
    schedule(true);
  }

  function start(news) {
    if (run.name !== null && news.run !== 'recorded' && innerWidth < 760) element.scrollIntoView({ block: 'start' }); // on a phone Run is far below
    pause();
    run = { name: news.run, columns: [], pairs: new Map(), state: 'running', note: '', recorded: news.recorded, pair: news.pair, prompt: news.prompt };
    run.columns = news.columns.map(build);
    $('runs').replaceChildren(...run.columns.map(column => column.box));
    $('runs').style.setProperty('--columns', run.columns.map(column => (column.about.plain ? 'minmax(13rem, 0.6fr)' : 'minmax(0, 1fr)')).join(' '));
    $('race-key').replaceChildren(...run.columns.map(column => {
      const item = make('span', 'sv-race-name');
      item.append(specvizRaceKey(column.about.letter), make('b', '', column.about.letter), column.about.title);
      return item;
    }));
    time = 0;
    follow = !news.recorded;
  }

  function take(column, news) {
    if (news.state) column.state = news.state;
    if (news.note) column.note = news.note;
    if (news.figures) column.figures = news.figures;
    for (const pair of news.pairs || []) run.pairs.set(`${pair.a}${pair.b}`, pair);
    for (const step of news.steps || []) if (!column.steps[step.index]) add(column, step);
  }

  function add(column, step) {
    const path = [...step.outcome].reduce((nodes, letter, i) => (letter === 'a' ? [...nodes, i] : nodes), []);
    step.path = path;
    column.steps.push(step);
    column.ends.push((column.ends.at(-1) || 0) + step.seconds.reduce((sum, part) => sum + part, 0));
    column.totals.push((column.totals.at(-1) || 0) + step.pieces.length);
    const spans = step.pieces.map((piece, i) => {
      const own = step.last && i === step.pieces.length - 1;
      const span = make('span', own ? step.last : 'accepted', piece);
      if (/^\s*\n\s*$/.test(piece)) span.classList.add('newline');
      span.dataset.step = step.index;
      return span;
    });
    column.spans.push(spans);
    column.find('ribbon').append(...spans);
  }

  function ended() {
    follow = false;
    if (!chosen) $('speed').value = SPEEDS.find(speed => limit() / speed >= SHORTEST) || SPEEDS.at(-1);
    if (run.recorded) time = first(); // when the first run is through
    else if (!matchMedia('(prefers-reduced-motion: reduce)').matches && limit()) {
      time = 0;
      play();
    }
  }

  // ---- one column ----

  function build(about) {
    const box = make('section', `sv-run sv-run-${about.letter}${about.plain ? ' plain' : ''}`);
    box.setAttribute('aria-label', `${about.letter}: ${about.title}`);
    const heading = make('h3', '', '');
    heading.append(specvizRaceKey(about.letter), make('b', '', about.letter), make('span', 'sv-run-title', about.title));
    if (about.lossy) {
      const badge = make('span', 'sv-badge sv-lossy', 'lossy');
      badge.title = about.lossy;
      heading.append(badge);
    }
    const ribbon = make('div', 'sv-ribbon');
    ribbon.tabIndex = 0;
    ribbon.setAttribute('role', 'group');
    ribbon.setAttribute('aria-label', `text of ${about.letter}; click a token to see its step`);
    ribbon.append(make('span', 'sv-prompt', run.prompt));
    const canvas = make('div', 'sv-canvas'), svg = document.createElementNS(SVG, 'svg');
    svg.setAttribute('class', 'sv-svg');
    svg.setAttribute('tabindex', '0');
    svg.setAttribute('role', 'application');
    svg.setAttribute('aria-label', `token tree of ${about.letter}; up and down walk the nodes, left and right change the step, E unfolds, 0 resets the view`);
    canvas.append(svg);
    box.append(heading, make('p', 'sv-run-details', about.details), make('p', 'sv-clock'), ribbon, canvas, make('p', 'sv-node'));
    const column = { about, box, svg, steps: [], ends: [], totals: [], spans: [], state: run.recorded ? 'done' : 'waiting',
      note: '', figures: null, current: -2, pinned: null, find: name => box.querySelector(`.sv-${name}`) };
    column.tree = specvizTree(svg, { hover: key => inspect(column, key ?? column.pinned), pick: key => pin(column, key), smallest: 0.8 });
    ribbon.addEventListener('click', event => {
      const span = event.target.closest('[data-step]');
      if (!span) return;
      pause();
      seek(column.ends[Number(span.dataset.step)]);
    });
    return column;
  }

  function pin(column, key, look = false) {
    column.pinned = key;
    column.tree.select(key, look);
    inspect(column, key);
    if (key !== null) say($('live'), column.find('node').textContent);
  }

  // The line under a tree: the node in question, or the whole step.
  function inspect(column, key) {
    const step = column.steps[column.current], node = Number(key);
    const about = !step ? '' : key === null && column.about.plain ? `The target writes “${specvizVisible(step.pieces[0]).replace(/·/g, ' ').trim()}”.`
      : key === null ? specvizSentence(step)
      : key === 'last' ? `“${specvizVisible(step.pieces.at(-1))}”, ${NAMES[step.last]}. ${TARGETS_OWN[step.last] || ''}`
      : key.endsWith('+') ? 'More children that were never reached; press Enter or click to unfold them.'
      : `“${specvizVisible(step.texts[node])}”, ${NAMES[step.outcome[node]]}. ${step.sentences[step.why[node]]}`;
    say(column.find('node'), about);
  }

  // ---- drawing: at most once a frame ----

  let whole = false;
  function schedule(all = false) {
    whole ||= all;
    if (!frame) frame = requestAnimationFrame(now => { frame = null; tick(now); });
  }

  function tick(now) {
    if (!element.isConnected) return;
    if (playing) {
      time = Math.min(limit(), time + Number($('speed').value) * Math.max(0, now - (before ?? now)) / 1000);
      before = now;
      if (time >= limit()) pause();
    }
    if (whole) {
      whole = false;
      race.show(run.columns.map(({ about, ends, totals }) => ({ letter: about.letter, ends, totals })));
      head();
      texts();
      table();
    }
    race.at(time);
    run.columns.forEach(show);
    player();
    if (playing) schedule();
  }

  function head() {
    $('recorded').hidden = !run.recorded;
    $('title-line').textContent = run.pair ? `${run.recorded ? '' : 'the same prompt, seed and length · '}${run.pair}` : '';
    const at = run.columns.findIndex(column => column.state === 'running');
    const told = run.note || (run.state === 'running' && at >= 0 ? `Decoding ${run.columns[at].about.letter}, ${at + 1} of ${run.columns.length}.`
      : run.state === 'stopped' ? 'Stopped.' : '');
    say($('state'), told);
    $('state').dataset.state = run.state;
  }

  function player() {
    const seconds = value => value.toFixed(limit() < 2 ? 3 : 2), scrub = $('scrub');
    scrub.max = limit();
    scrub.value = time;
    const told = limit() ? `${seconds(time)} of ${seconds(limit())} s` : 'no step yet';
    scrub.setAttribute('aria-valuetext', told);
    $('where').textContent = told;
    $('play').textContent = playing ? '❚❚ Pause' : '▶ Play';
    $('play').setAttribute('aria-label', playing ? 'pause' : 'play');
    root.dataset.time = time;
  }

  function show(column) {
    const current = column.ends.filter(end => end <= time).length - 1, step = column.steps[current];
    say(column.find('clock'), clock(column, current));
    column.box.dataset.state = column.state;
    if (current === column.current) return;
    column.current = current;
    column.pinned = null;
    column.spans.forEach((spans, i) => spans.forEach(span => {
      span.classList.toggle('later', i > current);
      span.classList.toggle('here', i === current);
    }));
    scroll(column.find('ribbon'), (column.spans[current] || []).at(-1));
    if (step) column.tree.show(step); else column.tree.clear();
    column.svg.dataset.step = current;
    column.tree.select(null);
    inspect(column, null);
  }

  function clock(column, current) {
    const failed = column.state === 'error' ? `This run failed. ${column.note}` : '';
    if (!column.steps.length) return failed || { waiting: 'waits for its turn', never: 'not run' }[column.state] || 'begins';
    const all = current === column.steps.length - 1, tokens = current < 0 ? 0 : column.totals[current];
    if (all && column.state === 'done') return `${tokens} tokens in ${column.steps.length} steps, ${column.ends.at(-1).toFixed(3)} s`;
    const told = `${tokens} of ${column.totals.at(-1)} tokens, step ${current + 1}`;
    return failed ? `${told}. ${failed}` : told + ((all && { running: '; decoding', stopped: '; stopped here' }[column.state]) || '');
  }

  function scroll(box, span) {
    if (!span) {
      box.scrollTop = 0;
      return;
    }
    const top = span.offsetTop - box.offsetTop, height = span.offsetHeight;
    if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight + 8;
    else if (top < box.scrollTop) box.scrollTop = Math.max(0, top - 8);
  }

  // ---- texts and table ----

  function texts() {
    mark();
    const pairs = [...run.pairs?.values() || []];
    const reasons = [...new Set(pairs.map(pair => pair.why).filter(Boolean))]; // said once, however many texts they explain
    $('texts-why').textContent = reasons.join(' ');
    $('texts').replaceChildren(...pairs.map(pair => {
      const line = make('li', '', '');
      line.dataset.kind = pair.kind;
      line.dataset.pair = `${pair.a}${pair.b}`;
      line.append(make('span', '', pair.text));
      if (pair.position === null) return line;
      const [one, other] = [pair.a, pair.b].map(letter => run.columns.find(column => column.about.letter === letter));
      line.append(make('span', 'sv-apart', ` ${pair.a} “${piece(one, pair.position)}”, ${pair.b} “${piece(other, pair.position)}” `));
      const button = make('button', '', 'Show');
      button.type = 'button';
      button.setAttribute('aria-label', `show where ${pair.a} and ${pair.b} part`);
      button.addEventListener('click', () => {
        pause();
        seek(Math.max(...[one, other].map(column => column.ends[column.totals.findIndex(total => total > pair.position)])));
      });
      line.append(button);
      return line;
    }));
  }

  const piece = (column, position) => specvizVisible(column.spans.flat()[position]?.textContent || '');

  // In each text the first token that differs from another one's.
  function mark() {
    for (const column of run.columns) {
      const letter = column.about.letter, spans = column.spans.flat(), found = new Map();
      for (const pair of run.pairs?.values() || []) {
        if (pair.position === null || (pair.a !== letter && pair.b !== letter)) continue;
        found.set(pair.position, [...found.get(pair.position) || [], pair.a === letter ? pair.b : pair.a]);
      }
      for (const span of column.box.querySelectorAll('.differs')) if (!found.has(spans.indexOf(span))) span.classList.remove('differs');
      for (const [position, letters] of found) {
        spans[position].classList.add('differs');
        spans[position].dataset.differs = `≠${letters.join('')}`;
        spans[position].title = `first token that differs from ${letters.join(' and ')}`;
      }
    }
  }

  function table() {
    const ran = run.columns.filter(column => column.figures), plain = ran.find(column => column.about.plain && column.figures.rate);
    const row = (name, cells) => {
      const line = make('tr');
      const first = make('th', '', name);
      first.scope = 'row';
      line.append(first, ...cells);
      return line;
    };
    const top = make('tr');
    top.append(make('td'), ...ran.map(column => {
      const cell = make('th', `sv-run-${column.about.letter}`, '');
      cell.scope = 'col';
      cell.append(specvizRaceKey(column.about.letter), make('b', '', column.about.letter), column.about.title);
      return cell;
    }));
    const cell = (column, name, value, note) => {
      const made = make('td', '', value);
      made.dataset.figure = name;
      made.dataset.letter = column.about.letter;
      if (note) made.append(make('small', '', note));
      return made;
    };
    const rows = FIGURES.map(([name, key, write, note]) => row(name, ran.map(column =>
      (column.figures[key] === null ? cell(column, key, '–') : cell(column, key, write(column.figures), note && note(column.figures))))));
    if (plain && ran.length > 1) rows.push(row('against plain decoding', ran.map(column =>
      cell(column, 'speedup', column.figures.rate ? `${(column.figures.rate / plain.figures.rate).toFixed(2)}×` : '–'))));
    const longest = Math.max(...ran.map(column => column.figures.token_ms || 0));
    rows.push(row('where a token’s time goes', ran.map(column => bar(column, longest))));
    rows.push(row('a step takes', ran.map(column => cell(column, 'step_ms', column.figures.step_ms ? `${column.figures.step_ms.toFixed(1)} ms` : '–',
      column.figures.step_ms && PARTS.map((part, i) => `${part} ${column.figures.step_parts[i].toFixed(1)}`).join(' · ')))));
    $('table').hidden = !ran.length;
    root.querySelector('thead').replaceChildren(top);
    root.querySelector('tbody').replaceChildren(...rows);
  }

  function bar(column, longest) {
    const cell = make('td'), line = make('span', 'sv-time-bar'), { token_ms: total, token_parts: parts } = column.figures;
    line.setAttribute('role', 'img');
    line.setAttribute('aria-label', total ? PARTS.map((part, i) => `${part} ${parts[i].toFixed(2)} ms`).join(', ') : 'not known');
    line.append(...PARTS.map((part, i) => {
      const piece = make('i', part);
      piece.style.width = total ? `${100 * parts[i] / longest}%` : 0;
      return piece;
    }));
    cell.append(line);
    return cell;
  }

  // ---- the clock ----

  const limit = () => Math.max(0, ...run.columns.map(column => column.ends.at(-1) || 0));
  const first = () => Math.min(...run.columns.map(column => column.ends.at(-1) || Infinity));
  const events = columns => [...new Set(columns.flatMap(column => column.ends))].sort((a, b) => a - b);

  function seek(seconds) {
    time = Math.min(limit(), Math.max(0, seconds));
    follow = run.state === 'running' && time === limit();
    schedule();
  }

  function pause() {
    if (playing) tell();
    playing = false;
    schedule();
  }

  function play() {
    if (!limit()) return;
    if (time >= limit()) time = 0;
    follow = false;
    playing = true;
    before = null;
    schedule();
  }

  function step(by, columns = run.columns) {
    pause();
    const all = [0, ...events(columns)];
    const next = by > 0 ? all.find(at => at > time) : all.findLast(at => at < time);
    if (next !== undefined) seek(next);
    requestAnimationFrame(() => requestAnimationFrame(tell));
  }

  function tell() { // what a screen reader hears when the clock stands still
    const told = run.columns.filter(column => column.steps.length).map(column => `${column.about.letter} ${column.find('clock').textContent}`);
    say($('live'), `${$('where').textContent}. ${told.join('. ')}`);
  }

  const toggle = () => { if (playing) pause(); else play(); };
  const clicks = { back: () => step(-1), forward: () => step(1), play: toggle };
  for (const [name, act] of Object.entries(clicks)) $(name).addEventListener('click', act);
  $('scrub').addEventListener('input', () => { pause(); seek(Number($('scrub').value)); });
  $('speed').addEventListener('change', () => { chosen = true; });

  function onKey(event) {
    if (!element.isConnected) return document.removeEventListener('keydown', onKey);
    const at = event.target, typed = at.matches('input, textarea, select, [contenteditable], [role=tab], [role=option]');
    if (!root.offsetParent || event.ctrlKey || event.metaKey || event.altKey || (typed && at !== $('scrub'))) return;
    if (at.matches('button, summary, a') && (event.key === ' ' || event.key === 'Enter')) return;
    const column = run.columns.find(item => item.svg === at), mine = column ? [column] : run.columns;
    const walk = way => {
      const key = column && column.tree.walk(way);
      if (key) pin(column, key, true);
    };
    const acts = {
      ArrowLeft: () => (event.shiftKey && column ? walk('parent') : step(-1, mine)),
      ArrowRight: () => (event.shiftKey && column ? walk('child') : step(1, mine)),
      ArrowUp: column && (() => walk('up')),
      ArrowDown: column && (() => walk('down')),
      Enter: column && (() => { if (column.pinned !== null) column.tree.unfold(column.pinned); }),
      Escape: column && (() => pin(column, null)),
      e: column && (() => column.tree.toggle()),
      E: column && (() => column.tree.toggle()),
      0: column && (() => column.tree.reset()),
      Home: () => { pause(); seek(0); },
      End: () => { pause(); seek(limit()); },
      ' ': toggle,
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  }
  document.addEventListener('keydown', onKey);

  function make(name, className = '', text) {
    const node = document.createElement(name);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  }

  function say(node, text) { // a screen reader reads every change
    if (node.textContent !== text) node.textContent = text;
  }

  return { receive };
}
