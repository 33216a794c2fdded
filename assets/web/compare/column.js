// One run of a comparison: its text, its tree and a line about a node, at the time on the shared
// clock.

import { copyOf, finder, query, say } from '../base/dom.js';
import { follow, onToken, spansOf } from '../base/ribbon.js';
import { addStep } from '../stage/run.js';
import { nodeSentence, stepSentence } from '../stage/sentences.js';
import { treeView } from '../tree/view.js';
import { lookOf, runName } from './tokens_over_time.js';

/** @typedef {import('./types.js').About} About */
/** @typedef {import('./types.js').State} State */
/** @typedef {ReturnType<typeof runColumn>} Column */

/**
 * @param {About} about
 * @param {{ recorded?: boolean, prompt?: string }} run
 * @param {HTMLElement} parent on the page; the column is added to it
 * @param {{ seek: (seconds: number) => void, announce: (text: string) => void }} on
 */
export function runColumn(about, run, parent, { seek, announce }) {
  const box = copyOf(parent.parentElement ?? parent);
  const $ = finder(box);
  const [ribbon, svg] = [$('ribbon'), $('svg')];
  box.className += ` ${lookOf(about)}`;
  box.classList.toggle('plain', about.plain);
  box.setAttribute('aria-label', `${about.letter}: ${about.title}`);
  query(box, 'h3').prepend(...runName(about));
  $('lossy').title = about.lossy;
  if (!about.lossy) $('lossy').remove(); // a saved picture has the words of the heading
  $('run-details').textContent = about.details;
  $('prompt').textContent = run.prompt;
  parent.append(box);

  let current = -2;
  const tree = treeView(svg, { inspect, pick });
  // Presented, a text has other lines.
  new ResizeObserver(() => follow(ribbon, column.spans, current)).observe(ribbon);
  const column = {
    about,
    box,
    svg,
    tree,
    steps: /** @type {Step[]} */ ([]),
    spans: /** @type {HTMLElement[][]} */ ([]),
    ends: /** @type {number[]} */ ([]),
    totals: /** @type {number[]} */ ([]), // seconds, and tokens by then
    state: /** @type {State} */ (run.recorded ? 'done' : 'waiting'),
    factor: '', // over plain decoding
    add,
    show,
    clock: () => $('clock').textContent,
  };
  onToken(ribbon, step => seek(column.ends[step]));
  return column;

  /** @param {Sent} sent @param {[number, number]} clock seconds and tokens by its end */
  function add(sent, [end, total]) {
    const step = addStep(column, sent);
    column.ends.push(end);
    column.totals.push(total);
    const spans = spansOf(step);
    column.spans.push(spans);
    ribbon.append(...spans);
  }

  /** The step that has ended by this time. @param {number} time */
  function show(time) {
    const at = column.ends.filter(end => end <= time).length - 1;
    const step = column.steps[drawnAt(column.steps, at)];
    say($('clock'), clockText(column, at));
    $('large').textContent = column.factor;
    box.dataset.state = column.state;
    if (at === current) return;
    current = at;
    follow(ribbon, column.spans, current);
    if (step) tree.show(step);
    else tree.clear();
    svg.dataset.step = current;
    tree.select(null);
    inspect();
  }

  /** @param {string} key */
  function pick(key) {
    tree.select(key);
    inspect();
    announce($('node').textContent);
  }

  function inspect() {
    const at = drawnAt(column.steps, current);
    const step = column.steps[at];
    const key = tree.over ?? tree.selected;
    const of = at === current ? '' : `Step ${at + 1}, the last that drafted: `;
    if (!step) return say($('node'), '');
    const text = key === null ? stepSentence(step, false) : nodeSentence(step, key);
    say($('node'), of + text);
  }
}

/**
 * The step of which the tree is drawn: of a run that is over the last that drafted, as a tree
 * without a draft would say nothing.
 * @param {Pick<Step, 'parents'>[]} steps
 * @param {number} at the last step that has ended
 */
export function drawnAt(steps, at) {
  if (at < 0 || at < steps.length - 1 || steps[at].parents.length > 1) return at;
  const last = steps.findLastIndex(step => step.parents.length > 1);
  return last < 0 ? at : last;
}

/**
 * How far a run is when its step `at` was the last to end.
 * @param {Pick<Column, 'state' | 'steps' | 'ends' | 'totals' | 'factor'>} column
 * @param {number} at
 */
export function clockText({ state, steps, ends, totals, factor }, at) {
  if (!steps.length) return 'no step yet';
  const written = totals[at] ?? 0;
  if (at === steps.length - 1 && state === 'done') {
    const time = factor ? `, ${ends[at].toFixed(3)} s` : ''; // which is final once there is one
    return `${written} tokens in ${steps.length} steps${time}`;
  }
  return `${written} of ${totals.at(-1)} tokens, step ${at + 1} of ${steps.length}`;
}
