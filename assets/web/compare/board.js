// The comparison: runs that were decoded one after the other, replayed together on a shared clock.
// Each has a column with its text and its tree at that time; the chart, remarks on the texts and
// the table stand around them.

import { finder, query, say } from '../base/dom.js';
import { onceAFrame } from '../base/page.js';
import { sharedClock } from './clock.js';
import { runColumn } from './column.js';
import { savesComparison } from './save.js';
import { writeTable, writeTexts } from './table.js';
import { tokenChart } from './tokens_over_time.js';

/** @typedef {import('./column.js').Column} Column */
/** @typedef {import('./types.js').Message} Message */

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
  const clock = sharedClock(root, () => run.columns, time => {
    drawChart(run.columns, time);
    for (const column of run.columns) column.show(time);
  });
  const first = settings();
  /** @type {Comparison} */
  let run = { state: '', columns: [] };
  /** @type {string[]} */
  let messages = []; // all of this comparison

  const failed = { note: 'The recorded runs could not be loaded. Run still works.' };
  const recorded = server.recorded?.({}).catch(() => JSON.stringify(failed));
  recorded?.then(text => {
    if (run.run === undefined) receive(text);
  });

  savesComparison(root, server.page_around, {
    caption: () => `${$('standing').textContent} ${$('title-line').textContent}`.trim(),
    messages: () => messages,
    link,
  });

  /** The address that opens what is on the screen: the recorded race, or runs to compute. */
  function link() {
    const address = new URL(location.href);
    address.search = '?tab=compare';
    if (run.settings && !run.badge) address.search += `&${run.settings}`;
    return address.href;
  }

  // ---- what arrives ----

  /** @param {string | undefined} text a message */
  function receive(text) {
    if (!text) return;
    /** @type {Message} */
    const message = JSON.parse(text);
    if (message.columns) start(message);
    else if (message.run && message.run !== run.run) return;
    messages.push(text);
    for (const update of message.updates ?? []) apply(run.columns[update.at], update);
    const { run: name, updates, columns, state, factors = [], ...facts } = message;
    Object.assign(run, facts);
    factors.forEach((factor, at) => {
      run.columns[at].factor = factor;
    });
    const wasBusy = isBusy();
    run.state = state ?? run.state;
    // what the controls no longer stand for is not played to anybody
    if (wasBusy && !isBusy() && !staleSince()) clock.ended();
    if (run.state === 'running') clock.follow();
    drawWhole();
  }

  const isBusy = () => ['loading', 'running', 'timing'].includes(run.state);

  /** @param {Message} message */
  function start({ run: name, prompt = '', columns = [] }) {
    messages = [];
    $('runs').replaceChildren();
    const announce = (/** @type {string} */ text) => say($('live'), text);
    const made = columns.map(about =>
      runColumn(about, prompt, $('runs'), { seek: clock.seek, announce }),
    );
    run = { run: name, state: 'running', columns: made, settings: first };
    clock.seek(0);
  }

  /** @param {Column} column @param {import('./types.js').ColumnUpdate} update */
  function apply(column, { state, steps, clock: ends = [] }) {
    if (steps) steps.forEach((step, i) => column.add(step, ends[i]));
    else if (ends.length) column.ends = ends.map(([seconds]) => seconds);
    // Only the end of a text is no text.
    const pieces = column.steps.at(-1)?.pieces;
    if (state === 'done' && pieces?.at(-1) === '') pieces[pieces.length - 1] = 'end of text';
  }

  // ---- drawing ----

  function renderWhole() {
    if (!element.isConnected) return;
    const why = staleSince();
    const source = run.pair ? `${run.badge ?? 'measured here'} · ${run.pair}` : '';
    $('asked').textContent = run.prompt ?? '';
    $('title-line').textContent = source;
    say($('standing'), run.headline || run.note || '');
    const wasStale = root.classList.contains('stale');
    // else that a link was copied would stand there only until the next message
    if (why || wasStale) say($('state'), why && `${why} Below is still the earlier comparison.`);
    root.classList.toggle('stale', why !== '');
    $('state').dataset.state = run.state;
    writeTexts(root, run.columns, run.remarks ?? []);
    writeTable(root, run.columns, run.table ?? []);
    clock.draw();
  }

  /** Why what is shown is not what the controls hold; empty where it is. */
  function staleSince() {
    if (run.state === 'loading') return run.note ?? '';
    if (isBusy() || !run.columns.length || settings() === run.settings) return '';
    return 'The settings changed: press Run.';
  }

  return {
    receive,
    /** The controls hold something else than before. */
    edited: drawWhole,
    follow: clock.follow,
  };
}
