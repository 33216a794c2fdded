// The comparison: runs that were decoded one after the other, replayed together on a shared clock.
// Each has a column with its text and its tree at that time; the chart, remarks on the texts and
// the table stand around them.

import { fieldIn, finder, query, say } from '../base/dom.js';
import { onceAFrame } from '../base/page.js';
import { sharedClock } from './clock.js';
import { runColumn } from './column.js';
import { savesComparison } from './save.js';
import { writeTable, writeTexts } from './table.js';
import { tokenChart } from './tokens_over_time.js';

/** @typedef {import('./column.js').Column} Column */
/** @typedef {import('./types.js').About} About */
/** @typedef {import('./types.js').Message} Message */

export const COMPARE_PROMPT = '#sv-compare-prompt';
/** @type {Record<string, number>} */
const SHARES = { plain: 3.4, chain: 4.1, tree: 5.6 }; // of the width of the page, by kind of run
/** The headline while there is no factor. @type {Record<string, string>} */
const UNTIMED = {
  running: 'Decoding, one run after the other.',
  timing: 'All runs are decoded; now they are timed.',
  stopped: 'Stopped before the runs were timed.',
};

/**
 * A comparison: what its messages brought, and what the browser adds.
 * @typedef {Omit<Partial<Message>, 'columns' | 'state'> & { state: string, columns: Column[],
 *   isWaiting: boolean, timed: Partial<Message> }} Comparison `isWaiting`: another one was asked
 *   for and has not begun; `timed` is what its rounds gave so far
 */

/**
 * @param {HTMLElement} element
 * @param {object} server what there is beside the page, each only where there is one
 * @param {Ask} [server.recorded] what the tab opens with
 * @param {Ask} [server.page_around] a page that plays offline, without a comparison
 * @param {() => string | undefined} [settings] what the controls hold, where there are some
 */
export function compareBoard(element, server, settings = () => undefined) {
  const root = query(element, '.sv-compare', HTMLElement);
  const $ = finder(root);
  const drawSoon = onceAFrame(render);
  const chart = tokenChart($('chart-svg', SVGSVGElement), seconds => clock.seek(seconds));
  $('table').open = !matchMedia('(max-width: 760px)').matches;
  const clock = sharedClock(root, {
    columns: () => run.columns,
    running: isBusy,
    changed: drawSoon,
  });
  const first = settings();
  let run = /** @type {Comparison} */ ({ state: '', columns: [], isWaiting: false, timed: {} });
  let whole = false;
  let messages = /** @type {string[]} */ ([]); // all of this comparison

  server
    .recorded?.({})
    .then(text => {
      if (run.run === undefined) receive(text);
    })
    .catch(() => {
      if (run.run === undefined)
        say($('state'), 'The recorded runs could not be loaded. Run still works.');
    });

  savesComparison(root, server.page_around, {
    caption: () => $('standing').textContent || $('title-line').textContent,
    messages: () => messages,
  });

  // ---- what arrives ----

  /** @param {string} text a message */
  function receive(text) {
    if (!text) return;
    const message = /** @type {Message} */ (JSON.parse(text));
    if (message.columns) start(message, message.columns);
    else if (message.run && message.run !== run.run) return;
    messages.push(text);
    // A number that is read does not change: what rounds give is shown when they are over, in
    // headline, chart and table at once.
    if (message.state === 'timing') run.timed = message;
    else write(message);
    if (message.state === 'stopped') {
      write(run.timed);
      run.columns.forEach(stopColumn);
    }
    if (message.state) change(message.state, message.note);
    clock.follow();
    drawWhole();
  }

  /** What a message brings. @param {Partial<Message>} message */
  function write({ run: name, updates = [], factors = [], columns, state, ...facts }) {
    for (const update of updates) apply(run.columns[update.at], update);
    Object.assign(run, facts);
    factors.forEach((factor, at) => {
      run.columns[at].factor = factor;
    });
  }

  /** @param {NonNullable<Message['state']>} state @param {string} [note] */
  function change(state, note = '') {
    const wasBusy = isBusy();
    const wasWhole = run.state !== 'running';
    run.note = note;
    run.isWaiting = state === 'loading';
    if (state === 'stopped' && wasWhole) run.state = 'done';
    else if (!run.isWaiting) run.state = state;
    // what the controls no longer stand for is not played to anybody
    if (wasBusy && !isBusy() && !differs()) clock.ended();
  }

  /** Whether it is decoded or timed. */
  function isBusy() {
    return run.state === 'running' || run.state === 'timing';
  }

  /** @param {Message} message @param {About[]} columns */
  function start({ run: name, badge, prompt }, columns) {
    const box = $('runs');
    messages = [];
    box.replaceChildren();
    // a tree has the most to show
    const shares = columns.map(({ kind }) => `minmax(0, ${SHARES[kind] ?? 4}fr)`);
    box.style.setProperty('--shares', shares.join(' '));
    const made = columns.map(about =>
      runColumn(about, { recorded: Boolean(badge), prompt }, box, {
        seek: clock.seek,
        announce: text => say($('live'), text),
      }),
    );
    const opened = { run: name, state: 'running', columns: made, settings: first };
    run = { ...opened, isWaiting: false, timed: {} };
    choose(run.columns.at(-1)?.box);
    clock.begin(!badge);
  }

  /** A narrow screen has the tree of one run. @param {Element | null | undefined} box */
  function choose(box) {
    for (const { box: other } of run.columns) other.classList.toggle('chosen', other === box);
  }
  $('runs').addEventListener('click', (/** @type {any} */ { target }) => {
    choose(target.closest('.sv-run'));
  });

  /** @param {Column} column */
  function stopColumn(column) {
    if (column.state !== 'running' && column.state !== 'waiting') return;
    column.state = column.steps.length ? 'stopped' : 'never';
  }

  /** @param {Column} column @param {import('./types.js').ColumnUpdate} update */
  function apply(column, { state, note, steps, clock: ends = [] }) {
    if (state) column.state = state;
    if (note) column.note = note;
    if (steps) steps.forEach((step, i) => column.add(step, ends[i]));
    else if (ends.length) column.ends = ends.map(([seconds]) => seconds);
  }

  // ---- drawing ----

  /** All of it, not only what moves with the clock. */
  function drawWhole() {
    whole = true;
    drawSoon();
  }

  /** @param {number} now */
  function render(now) {
    if (!element.isConnected) return;
    const moving = clock.advance(now);
    if (whole) {
      whole = false;
      chart.show(run.columns);
      head();
      writeTexts(root, run.columns, run.pairs ?? [], clock.seek);
      writeTable(root, run.columns, run.table ?? []);
    }
    chart.at(clock.time);
    for (const column of run.columns) column.show(clock.time);
    clock.write();
    if (moving) drawSoon();
  }

  function head() {
    const isStale = run.isWaiting || differs() !== '';
    const source = run.columns.length ? [run.badge ?? 'measured here', run.pair] : [];
    $('asked').textContent = run.prompt ?? '';
    $('title-line').textContent = source.filter(Boolean).join(' · ');
    say($('standing'), run.headline || (UNTIMED[run.state] ?? ''));
    say($('state'), isStale ? staleText() : stateText());
    $('basis').textContent = [run.basis, run.when].filter(Boolean).join(' ');
    root.classList.toggle('stale', isStale);
    $('state').dataset.state = run.state;
  }

  /** Which controls hold something else than what is shown: "settings", "prompt" or none. */
  function differs() {
    const now = settings();
    if (now === undefined || isBusy() || !run.columns.length) return '';
    if (now !== run.settings) return 'settings';
    // a model's template may end the text of a prompt with lines of its own
    return fieldIn(COMPARE_PROMPT)?.value.trim() === run.prompt?.trim() ? '' : 'prompt';
  }

  function staleText() {
    const before = run.badge ? `the ${run.badge} comparison` : 'the earlier run';
    const why = run.isWaiting ? run.note : `The ${differs()} changed: press Run.`;
    return `${why} Below is still ${before}.`;
  }

  function stateText() {
    if (run.state === 'timing') return run.note ?? '';
    if (run.state === 'stopped') return 'Stopped.';
    const at = run.columns.findIndex(column => column.state === 'running');
    if (run.state !== 'running' || at < 0) return '';
    return `Run ${at + 1} of ${run.columns.length}: ${run.columns[at].about.title}.`;
  }

  return {
    receive,
    /** The controls hold something else than before. */
    edited: drawWhole,
  };
}
