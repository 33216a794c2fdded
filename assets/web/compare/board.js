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

/**
 * A comparison: what its messages brought. While another one is "loading", it is still shown.
 * @typedef {Omit<Partial<Message>, 'columns' | 'state'> & { state: string, columns: Column[] }}
 *   Comparison
 */

/**
 * @param {HTMLElement} element
 * @param {object} server what there is beside the page, each only where there is one
 * @param {Ask} [server.recorded] what the tab opens with
 * @param {Ask} [server.page_around] a page that plays offline, without a comparison
 * @param {() => string | undefined} [settings] what the controls hold, where there are some
 */
export function compareBoard(element, server, settings = () => undefined) {
  const root = query(element, '.sv-compare');
  const $ = finder(root);
  const drawWhole = onceAFrame(renderWhole);
  const drawChart = tokenChart($('chart-svg'));
  $('table').open = !matchMedia('(max-width: 760px)').matches;
  const clock = sharedClock(root, () => run.columns, time => {
    drawChart(run.columns, time);
    for (const column of run.columns) column.show(time);
  });
  const first = settings();
  /** @type {Comparison} */
  let run = { state: '', columns: [] };
  /** @type {string[]} */
  let messages = []; // all of this comparison

  async function openRecorded() {
    const text = await server.recorded?.({}).catch(() => null);
    if (run.run !== undefined) return;
    if (text === null) say($('state'), 'The recorded runs could not be loaded. Run still works.');
    else receive(text);
  }
  openRecorded();

  savesComparison(root, server.page_around, {
    caption: () => `${$('standing').textContent} ${$('title-line').textContent}`.trim(),
    messages: () => messages,
  });

  // ---- what arrives ----

  /** @param {string | undefined} text a message */
  function receive(text) {
    if (!text) return;
    /** @type {Message} */
    const message = JSON.parse(text);
    if (message.columns) start(message, message.columns);
    else if (message.run && message.run !== run.run) return;
    messages.push(text);
    for (const update of message.updates ?? []) apply(run.columns[update.at], update);
    const { run: name, updates, columns, state, factors = [], ...facts } = message;
    Object.assign(run, facts);
    factors.forEach((factor, at) => {
      run.columns[at].factor = factor;
    });
    if (state) change(state);
    if (run.state === 'running') clock.follow();
    drawWhole();
  }

  /** @param {NonNullable<Message['state']>} state */
  function change(state) {
    const wasBusy = isBusy();
    run.state = state === 'stopped' && run.state === 'loading' ? 'done' : state;
    // what the controls no longer stand for is not played to anybody
    if (wasBusy && !isBusy() && !staleSince()) clock.ended();
  }

  const isBusy = () => ['loading', 'running', 'timing'].includes(run.state);

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
    run = { run: name, state: 'running', columns: made, settings: first };
    choose(run.columns.at(-1)?.box);
    clock.begin();
  }

  /** A narrow screen has the tree of one run. @param {Element | null | undefined} box */
  function choose(box) {
    for (const { box: other } of run.columns) other.classList.toggle('chosen', other === box);
  }
  $('runs').onclick = (/** @type {any} */ { target }) => {
    choose(target.closest('.sv-run'));
  };

  /** @param {Column} column @param {import('./types.js').ColumnUpdate} update */
  function apply(column, { state, steps, clock: ends = [] }) {
    if (state) column.state = state;
    if (steps) steps.forEach((step, i) => column.add(step, ends[i]));
    else if (ends.length) column.ends = ends.map(([seconds]) => seconds);
    // Only the end of a text is no text.
    const pieces = column.steps.at(-1)?.pieces;
    if (state === 'done' && pieces?.at(-1) === '') pieces[pieces.length - 1] = 'end of text';
  }

  // ---- drawing ----

  function renderWhole() {
    if (!element.isConnected) return;
    head();
    writeTexts(root, run.columns, run.pairs ?? [], clock.seek);
    writeTable(root, run.columns, run.table ?? []);
    clock.draw();
  }

  function head() {
    const why = staleSince();
    const source = run.columns.length ? [run.badge ?? 'measured here', run.pair] : [];
    $('asked').textContent = run.prompt ?? '';
    $('title-line').textContent = source.filter(Boolean).join(' · ');
    say($('standing'), run.headline || (run.note ?? ''));
    say($('state'), why && `${why} Below is still the earlier comparison.`);
    $('basis').textContent = [run.basis, run.when].filter(Boolean).join(' ');
    root.classList.toggle('stale', why !== '');
    $('state').dataset.state = run.state;
  }

  /** Why what is shown is not what the controls hold; empty where it is. */
  function staleSince() {
    if (run.state === 'loading') return run.note ?? '';
    const now = settings();
    if (now === undefined || isBusy() || !run.columns.length) return '';
    if (now !== run.settings) return 'The settings changed: press Run.';
    // a model's template may end the text of a prompt with lines of its own
    const isSame = fieldIn(COMPARE_PROMPT)?.value.trim() === run.prompt?.trim();
    return isSame ? '' : 'The prompt changed: press Run.';
  }

  return {
    receive,
    /** The controls hold something else than before. */
    edited: drawWhole,
  };
}
