// The comparison: runs that were decoded one after the other, replayed together on a shared clock. Each has a column
// with its text and its tree at that time; the race, what is said of the texts and the table stand around them.
// Messages are what app/tabs/compare/runs.py writes.

import { finder, make, one, say } from '../base/dom.js';
import { keys } from '../base/keys.js';
import { runColumn } from './column.js';
import { raceChart, raceKey } from './race.js';
import { writeTable } from './table.js';
import { writeTexts } from './texts.js';

const SPEEDS = [1, 0.5, 0.25, 0.1, 0.05, 0.02];
const SHORTEST = 4; // seconds that a replay takes at least, as long as nobody chose a speed

export function compareBoard(element, fetchRecorded) {
  const root = one(element, '.sv-compare'), $ = finder(root);
  const race = raceChart($('race-svg'), seconds => { clock.pause(); clock.seek(seconds); });
  const clock = sharedClock(root, { columns: () => run.columns, running: () => run.state === 'running', changed: () => schedule() });
  /** @type {{ name: string | null, columns: any[], pairs: Map<string, any>, state: string, note: string, recorded?: boolean, pair?: string, when?: string }} */
  let run = { name: null, columns: [], pairs: new Map(), state: '', note: '' };
  let frame = /** @type {number | null} */ (null), whole = false;

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
      if (was === 'running' && run.state !== 'running') clock.ended(run.recorded);
    }
    clock.follow();
    schedule(true);
  }

  function start(news) {
    if (run.name !== null && news.run !== 'recorded' && innerWidth < 760) element.scrollIntoView({ block: 'start' }); // on a phone Run is far below
    const { recorded, pair, prompt, when } = news, box = $('runs');
    run = { name: news.run, columns: [], pairs: new Map(), state: 'running', note: '', recorded, pair, when };
    box.replaceChildren();
    box.style.setProperty('--columns', columnWidths(news.columns));
    run.columns = news.columns.map(about => runColumn(about, { recorded, prompt }, box, {
      seek: seconds => { clock.pause(); clock.seek(seconds); },
      said: text => say($('live'), text),
    }));
    $('race-key').replaceChildren(...news.columns.map(({ letter, title }) => {
      const item = make('span', '', 'sv-race-name');
      item.append(raceKey(letter), make('b', letter), title);
      return item;
    }));
    clock.begin(!recorded);
  }

  function take(column, news) {
    if (news.state) column.state = news.state;
    if (news.note) column.note = news.note;
    if (news.figures) column.figures = news.figures;
    for (const pair of news.pairs || []) run.pairs.set(`${pair.a}${pair.b}`, pair);
    for (const step of news.steps || []) column.add(step);
  }

  // ---- drawing: at most once a frame ----

  function schedule(all = false) {
    whole ||= all;
    frame ??= requestAnimationFrame(now => { frame = null; render(now); });
  }

  function render(now) {
    if (!element.isConnected) return;
    const moving = clock.advance(now);
    if (whole) {
      whole = false;
      race.show(run.columns.map(({ about, ends, totals }) => ({ letter: about.letter, ends, totals })));
      head();
      writeTexts(root, run.columns, [...run.pairs.values()], seconds => { clock.pause(); clock.seek(seconds); });
      writeTable(root, run.columns);
    }
    race.at(clock.time);
    for (const column of run.columns) column.show(clock.time);
    clock.write();
    if (moving) schedule();
  }

  function head() {
    $('recorded').hidden = !run.recorded;
    $('title-line').textContent = run.pair ? [run.recorded ? run.when : 'the same prompt, seed and length', run.pair].filter(Boolean).join(' · ') : '';
    const at = run.columns.findIndex(column => column.state === 'running');
    const told = run.note || (run.state === 'running' && at >= 0 ? `Decoding ${run.columns[at].about.letter}, ${at + 1} of ${run.columns.length}.`
      : run.state === 'stopped' ? 'Stopped.' : '');
    say($('state'), told);
    $('state').dataset.state = run.state;
  }

  return { receive };
}

// Four runs stand two by two; plain decoding needs less room than a tree.
function columnWidths(columns) {
  if (columns.length > 3) return 'repeat(2, minmax(0, 1fr))';
  return columns.map(about => (about.plain ? 'minmax(13rem, 0.6fr)' : 'minmax(0, 1fr)')).join(' ');
}

// The clock of all runs, with its buttons and keys.
function sharedClock(root, { columns, running, changed }) {
  const $ = finder(root);
  let time = 0, following = false, playing = false, before = null, chosen = false;

  const limit = () => Math.max(0, ...columns().map(column => column.ends.at(-1) || 0));
  const first = () => Math.min(...columns().map(column => column.ends.at(-1) || Infinity));
  const events = some => [...new Set(some.flatMap(column => column.ends))].sort((a, b) => a - b);

  function begin(follows) {
    pause();
    time = 0;
    following = follows;
  }

  function follow() {
    if (following) time = limit();
  }

  function ended(recorded) {
    following = false;
    if (!chosen) $('speed').value = SPEEDS.find(speed => limit() / speed >= SHORTEST) || SPEEDS.at(-1);
    if (recorded) time = first(); // when the first run is through
    else if (!matchMedia('(prefers-reduced-motion: reduce)').matches && limit()) {
      time = 0;
      play();
    }
  }

  function advance(now) {
    if (!playing) return false;
    time = Math.min(limit(), time + Number($('speed').value) * Math.max(0, now - (before ?? now)) / 1000);
    before = now;
    if (time >= limit()) pause();
    return playing;
  }

  function seek(seconds) {
    time = Math.min(limit(), Math.max(0, seconds));
    following = running() && time === limit();
    changed();
  }

  function pause() {
    if (playing) tell();
    playing = false;
    changed();
  }

  function play() {
    if (!limit()) return;
    if (time >= limit()) time = 0;
    following = false;
    playing = true;
    before = null;
    changed();
  }

  function step(by, some = columns()) {
    pause();
    const all = [0, ...events(some)];
    const next = by > 0 ? all.find(at => at > time) : all.findLast(at => at < time);
    if (next !== undefined) seek(next);
    requestAnimationFrame(() => requestAnimationFrame(tell));
  }

  function tell() { // what a screen reader hears when the clock stands still
    const told = columns().filter(column => column.steps.length).map(column => `${column.about.letter} ${column.clock()}`);
    say($('live'), `${$('where').textContent}. ${told.join('. ')}`);
  }

  function write() {
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

  const toggle = () => { if (playing) pause(); else play(); };
  for (const [name, act] of Object.entries({ back: () => step(-1), forward: () => step(1), play: toggle })) $(name).addEventListener('click', act);
  $('scrub').addEventListener('input', () => { pause(); seek(Number($('scrub').value)); });
  $('speed').addEventListener('change', () => { chosen = true; });
  keys(root, event => {
    const column = columns().find(item => item.svg === event.target), mine = column ? [column] : columns(), shift = event.shiftKey && column;
    const walk = way => () => {
      const key = column.tree.walk(way);
      if (key) column.pin(key, true);
    };
    return {
      ArrowLeft: shift ? walk('parent') : () => step(-1, mine),
      ArrowRight: shift ? walk('child') : () => step(1, mine),
      ArrowUp: column && walk('up'),
      ArrowDown: column && walk('down'),
      Enter: column && (() => { if (column.pinned !== null) column.tree.unfold(column.pinned); }),
      Escape: column && (() => column.pin(null)),
      e: column && (() => column.tree.toggle()),
      0: column && (() => column.tree.reset()),
      Home: () => { pause(); seek(0); },
      End: () => { pause(); seek(limit()); },
      ' ': toggle,
    };
  }, { own: $('scrub') });

  return { begin, follow, ended, advance, seek, pause, write, get time() { return time; } };
}
