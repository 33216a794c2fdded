// The comparison: runs that were decoded one after the other, replayed together on a shared clock. Each has a column
// with its text and its tree at that time; the race, what is said of the texts and the table stand around them.
// Messages are what app/tabs/compare/runs.py writes.

import { finder, make, query, say } from '../base/dom.js';
import { sharedClock } from './clock.js';
import { runColumn } from './column.js';
import { raceChart, raceKey } from './tokens_over_time.js';
import { writeTable } from './table.js';
import { writeTexts } from './texts.js';

const QUIET = 100; // milliseconds without a change until it is told; by then the controls hold what was typed

/** @typedef {import('./column.js').Column} Column */
/** @typedef {import('./types.js').About} About */
/** @typedef {import('./types.js').News} News */
/** @typedef {import('./types.js').Pair} Pair */

/**
 * @typedef {object} Comparison
 * @property {string | null} name
 * @property {Column[]} columns
 * @property {Map<string, Pair>} pairs by the letters of both
 * @property {string} state
 * @property {string} note
 * @property {string} [badge] of a comparison that was not decoded now
 * @property {string} [pair] the name of the models
 * @property {string} [when] it was recorded, and where
 */

/** @param {HTMLElement} element @param {() => Promise<string>} recorded what the tab opens with */
export function compareBoard(element, recorded) {
  const root = query(element, '.sv-compare'), $ = finder(root);
  const race = raceChart($('race-svg'), seconds => { clock.pause(); clock.seek(seconds); });
  const clock = sharedClock(root, { columns: () => run.columns, running: () => run.state === 'running', changed: () => schedule() });
  /** @type {Comparison} */
  let run = { name: null, columns: [], pairs: new Map(), state: '', note: '' };
  let frame = /** @type {number | null} */ (null), whole = false;

  recorded().then(text => { if (run.name === null) receive(text); }).catch(() => {
    if (run.name === null) say($('state'), 'The recorded runs could not be loaded. Run all still works.');
  });

  // ---- what arrives ----

  /** @param {string} text a message */
  function receive(text) {
    if (!text) return;
    const news = /** @type {News} */ (JSON.parse(text));
    if (news.columns) start(news, news.columns);
    else if (news.run && news.run !== run.name) return;
    for (const item of news.news || []) take(run.columns[item.at], item);
    if (news.state === 'stopped') for (const column of run.columns) {
      if (column.state === 'running' || column.state === 'waiting') column.state = column.steps.length ? 'stopped' : 'never';
    }
    if (news.state) {
      run.note = news.note || '';
      const was = run.state;
      run.state = news.state === 'stopped' && was !== 'running' ? 'done' : news.state === 'loading' ? was : news.state;
      if (was === 'running' && run.state !== 'running') clock.ended(Boolean(run.badge));
    }
    clock.follow();
    schedule(true);
  }

  /** @param {News} news @param {About[]} columns */
  function start(news, columns) {
    const { badge, pair, prompt, when } = news, box = $('runs');
    if (run.name !== null && !badge && innerWidth < 760) element.scrollIntoView({ block: 'start' }); // on a phone Run is far below
    run = { name: news.run, columns: [], pairs: new Map(), state: 'running', note: '', badge, pair, when };
    box.replaceChildren();
    box.style.setProperty('--columns', columnWidths(columns));
    run.columns = columns.map(about => runColumn(about, { recorded: Boolean(badge), prompt }, box, {
      seek: seconds => { clock.pause(); clock.seek(seconds); },
      said: text => say($('live'), text),
    }));
    $('race-key').replaceChildren(...columns.map(({ letter, title }) => {
      const item = make('span', '', 'sv-race-name');
      item.append(raceKey(letter), make('b', letter), title);
      return item;
    }));
    clock.begin(!badge);
  }

  /** @param {Column} column @param {import('./types.js').ColumnNews} news */
  function take(column, news) {
    if (news.state) column.state = news.state;
    if (news.note) column.note = news.note;
    if (news.figures) column.figures = news.figures;
    if (news.paired) column.paired = news.paired;
    for (const pair of news.pairs || []) run.pairs.set(`${pair.a}${pair.b}`, pair);
    const { clock: ends = [] } = news;
    news.steps?.forEach((step, i) => column.add(step, ends[i]));
    news.speedups?.forEach((speedup, i) => { run.columns[i].speedup = speedup; });
  }

  // ---- drawing: at most once a frame ----

  function schedule(all = false) {
    whole ||= all;
    frame ??= requestAnimationFrame(now => { frame = null; render(now); });
  }

  /** @param {number} now */
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
    $('recorded').hidden = !run.badge;
    $('recorded').textContent = run.badge || '';
    $('title-line').textContent = run.pair ? [run.badge ? run.when : 'the same prompt, seed and length', run.pair].filter(Boolean).join(' · ') : '';
    const at = run.columns.findIndex(column => column.state === 'running');
    const told = run.note || (run.state === 'running' && at >= 0 ? `Decoding ${run.columns[at].about.letter}, ${at + 1} of ${run.columns.length}.`
      : run.state === 'stopped' ? 'Stopped.' : '');
    say($('state'), told);
    $('state').dataset.state = run.state;
  }

  return { receive };
}

/** Plain decoding needs less room than a tree. @param {About[]} columns */
function columnWidths(columns) {
  return columns.map(about => (about.plain ? 'minmax(13rem, 0.6fr)' : 'minmax(0, 1fr)')).join(' ');
}

/**
 * Hears what a visitor changes in a rail, not what the page sets itself.
 * @param {Element} element in the rail
 * @param {string} besides the id of what does not count
 * @param {() => void} told
 */
export function onRail(element, besides, told) {
  const rail = /** @type {HTMLElement} */ (element.closest('.sv-rail'));
  let waiting = 0;

  /** @param {Event} event */
  function heard({ target }) {
    if (/** @type {Element} */ (target).closest(`#${besides}`)) return;
    clearTimeout(waiting);
    waiting = window.setTimeout(told, QUIET);
  }

  rail.addEventListener('input', heard);
  // Two changes that gradio makes without one: a number out of range comes back into it when its box is left, and a
  // slider has a button that resets it.
  rail.addEventListener('focusout', event => { if (/** @type {HTMLInputElement} */ (event.target).type === 'number') heard(event); });
  rail.addEventListener('click', event => { if (/** @type {Element} */ (event.target).closest('.reset-button')) heard(event); });
}
