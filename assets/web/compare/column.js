// One run of a comparison: its text, its tree and a line about a node, at the time on the shared
// clock.

import { makeSvg, finder, make, say } from '../base/dom.js';
import { follow, onToken, spansOf } from '../base/ribbon.js';
import { addStep } from '../stage/run.js';
import { nodeSentence, quoted, stepSentence } from '../stage/sentences.js';
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
  const { letter } = about;
  const ribbon = make('div', [make('span', run.prompt, 'sv-prompt')], {
    class: 'sv-ribbon',
    tabindex: 0,
    role: 'group',
    'aria-label': `text of ${letter}; click a token to see its step`,
  });
  const svg = makeSvg('svg', {
    class: 'sv-svg',
    tabindex: 0,
    role: 'application',
    'aria-label': `token tree of ${letter}; up and down select a node`,
  });
  const progress = [make('span', '', 'sv-clock'), make('span', about.details, 'sv-run-details')];
  const parts = [
    heading(about),
    make('p', '', 'sv-large'),
    make('p', progress, 'sv-run-line'),
    ribbon,
    make('div', [svg], 'sv-scroll'),
    make('p', '', 'sv-node'),
  ];
  const box = make('section', parts, {
    class: `sv-run ${lookOf(about)}${about.plain ? ' plain' : ''}`,
    'aria-label': `${letter}: ${about.title}`,
  });
  const $ = finder(box);
  parent.append(box);

  let current = -2;
  const tree = treeView(svg, { inspect, pick, scrolls: false });
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
    svg.dataset.step = String(current);
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
    const text = nodeText(column.steps[at], tree.over ?? tree.selected, about.plain);
    say($('node'), at === current ? text : `Step ${at + 1}, the last that drafted: ${text}`);
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

/** @param {About} about */
function heading(about) {
  const parts = runName(about);
  const { lossy } = about;
  if (lossy) parts.push(make('span', 'lossy', { class: 'sv-badge sv-lossy', title: lossy }));
  return make('h3', parts);
}

/**
 * The line under a tree: the node in question, or the whole step.
 * @param {Step | undefined} step
 * @param {string | null} key
 * @param {boolean} plain whether it is plain decoding
 */
export function nodeText(step, key, plain) {
  if (!step) return '';
  if (key !== null) return nodeSentence(step, key);
  return plain ? `The target writes ${quoted(step.pieces[0])}.` : stepSentence(step, false);
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
