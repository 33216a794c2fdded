// What is known of a run: its steps and its numbers as they come. No page here.

import { pathOf } from '../base/ribbon.js';
import { countGuesses } from '../tree/sources.js';

/** @param {string | null} name */
export function emptyRun(name) {
  return {
    name, models: /** @type {string | undefined} */ (undefined), head: /** @type {Partial<Head>} */ ({}), state: '', note: '',
    steps: /** @type {Step[]} */ ([]),
    same: /** @type {Message['same'] | null} */ (null), // how its text compares with plain decoding
    figures: /** @type {Message['figures'] | null} */ (null),
    against: /** @type {Message['speedup'] | null} */ (null), // plain decoding, timed in turns with it; a recorded run has one of each
    timing: /** @type {Message['timing'] | null} */ (null), // how far that is, once the run itself is whole
    guessed: /** @type {Guesses} */ (new Map()), // who drafted, and how often each was right
  };
}

/** @typedef {ReturnType<typeof emptyRun>} Run */

/** "recorded", "run", "file" or "lesson". @param {Pick<Run, 'name'>} run */
export const kindOf = run => (run.name || '').split(' ')[0];

/** @param {Run} run */
export const isOver = run => ['done', 'stopped', 'error'].includes(run.state);

/** Takes a message about this run; returns the steps that are new. @param {Run} run @param {Message} news */
export function takeMessage(run, news) {
  if (news.head) run.head = news.head;
  if (news.models) run.models = news.models;
  if (news.state) { // what is stopped while it waits or loads leaves the run on the screen as it was
    const timed = news.state === 'stopped' && run.state === 'running' && run.timing;
    run.state = news.state === 'stopped' && (run.state !== 'running' || timed) ? 'done' : news.state;
    run.note = timed ? `Whole run; the comparison with plain decoding was stopped after ${timed.done} of ${timed.of} rounds.` : news.note || '';
  }
  if (news.timing) run.timing = news.timing;
  if (news.same) run.same = news.same;
  if (news.state === 'stopped' && run.same && run.same.kind === 'checking') {
    run.same = { kind: 'stopped', text: 'Comparison with plain decoding stopped.' };
  }
  if (news.figures) run.figures = news.figures;
  if (news.speedup) run.against = news.speedup;
  return news.steps.filter(step => !run.steps[step.index]).map(step => addStep(run, step));
}

/** @param {Run} run @param {Sent} sent */
function addStep(run, sent) {
  sent.detail ??= {};
  /** @type {Step} */
  const step = Object.assign(sent, { path: pathOf(sent), guessed: countGuesses(run.guessed, sent) });
  run.steps[step.index] = step;
  return step;
}
