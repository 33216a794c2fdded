// What is known of a run: its steps and its numbers as they come. No page here.

import { pathOf } from '../base/ribbon.js';
import { countGuesses } from '../tree/sources.js';

/** @param {string | null} name */
export function emptyRun(name) {
  return {
    name,
    models: /** @type {string | undefined} */ (undefined),
    head: /** @type {Partial<Head>} */ ({}),
    state: '',
    note: '',
    steps: /** @type {Step[]} */ ([]),
    same: /** @type {Message['same'] | null} */ (null), // how its text compares with plain decoding
    figures: /** @type {Message['figures'] | null} */ (null),
    // plain decoding, timed in turns with it; a recorded run has one of each
    against: /** @type {Message['speedup'] | null} */ (null),
    // how far that is, once the run itself is whole
    timing: /** @type {Message['timing'] | null} */ (null),
    guessed: /** @type {Guesses} */ (new Map()), // who drafted, and how often each was right
  };
}

/** @typedef {ReturnType<typeof emptyRun>} Run */

/** "recorded", "run", "file" or "lesson". @param {Pick<Run, 'name'>} run */
export const kindOf = run => (run.name || '').split(' ')[0];

/** @param {Run} run */
export const isOver = run => ['done', 'stopped', 'error'].includes(run.state);

/**
 * Takes a message about this run; returns the steps that are new.
 * @param {Run} run
 * @param {Message} update
 */
export function takeMessage(run, update) {
  if (update.head) run.head = update.head;
  if (update.models) run.models = update.models;
  if (update.state) {
    // what is stopped while it waits or loads leaves the run on the screen as it was
    const timed = update.state === 'stopped' && run.state === 'running' && run.timing;
    run.state =
      update.state === 'stopped' && (run.state !== 'running' || timed) ? 'done' : update.state;
    run.note = timed
      ? `Whole run; the comparison with plain decoding was stopped after ${timed.done} of ${timed.of} rounds.`
      : update.note || '';
  }
  if (update.timing) run.timing = update.timing;
  if (update.same) run.same = update.same;
  if (update.state === 'stopped' && run.same && run.same.kind === 'checking') {
    run.same = { kind: 'stopped', text: 'Comparison with plain decoding stopped.' };
  }
  if (update.figures) run.figures = update.figures;
  if (update.speedup) run.against = update.speedup;
  return update.steps.filter(step => !run.steps[step.index]).map(step => addStep(run, step));
}

/** @param {Run} run @param {Sent} sent */
function addStep(run, sent) {
  sent.detail ??= {};
  /** @type {Step} */
  const step = Object.assign(sent, {
    path: pathOf(sent),
    guessed: countGuesses(run.guessed, sent),
  });
  run.steps[step.index] = step;
  return step;
}
