// What is known of a run: its steps as they come, and the sums that are told of them. No page here.

import { pathOf } from '../base/ribbon.js';
import { countGuesses } from '../tree/sources.js';

/** @typedef {import('../base/types.js').Sent} Sent */
/** @typedef {import('../base/types.js').Step} Step */
/** @typedef {import('../base/types.js').Message} Message */

/** @param {string | null} name */
export function emptyRun(name) {
  return {
    name, head: /** @type {Partial<import('../base/types.js').Head>} */ ({}), state: '', note: '',
    steps: /** @type {Step[]} */ ([]),
    same: /** @type {Message['same'] | null} */ (null), // how its text compares with plain decoding
    plain: /** @type {number | null} */ (null), // tokens/s of plain decoding
    against: /** @type {Message['speedup'] | null} */ (null), // timed in turns with plain decoding; a recorded run has one of each
    timing: /** @type {Message['timing'] | null} */ (null), // how far that is, once the run itself is whole
    tokens: 0, accepted: 0, compared: 0,
    guessed: /** @type {import('../base/types.js').Guesses} */ (new Map()), // who drafted, and how often each was right
    rated: 0, timed: 0, seconds: [0, 0, 0, 0], // without the first step, which also reads the prompt
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
 * @param {Message} news
 */
export function takeMessage(run, news) {
  if (news.head) run.head = news.head;
  if (news.state) { // what is stopped while it waits or loads leaves the run on the screen as it was
    const timed = news.state === 'stopped' && run.state === 'running' && run.timing;
    run.state = news.state === 'stopped' && (run.state !== 'running' || timed) ? 'done' : news.state;
    run.note = timed ? `Whole run; its comparison with plain decoding was stopped after ${timed.done} of ${timed.of} rounds.` : news.note || '';
  }
  if (news.timing) run.timing = news.timing;
  if (news.same) run.same = news.same;
  if (news.state === 'stopped' && run.same && run.same.kind === 'checking') {
    run.same = { kind: 'stopped', text: 'Comparison with plain decoding stopped.' };
  }
  if (news.plain_rate) run.plain = news.plain_rate;
  if (news.speedup) run.against = news.speedup;
  return news.steps.filter(step => !run.steps[step.index]).map(step => addStep(run, step));
}

/** @param {Run} run @param {Sent} sent */
function addStep(run, sent) {
  sent.detail ??= {};
  /** @type {Step} */
  const step = Object.assign(sent, { path: pathOf(sent), guessed: countGuesses(run.guessed, sent) });
  run.steps[step.index] = step;
  run.tokens += step.pieces.length;
  run.accepted += step.path.length;
  for (const letter of step.outcome) if ('axp'.includes(letter)) run.compared++;
  if (step.index > 0 || run.rated) {
    run.timed += step.pieces.length;
    step.seconds.forEach((value, i) => { run.seconds[i] += value; });
    run.rated++;
  }
  return step;
}

/** Tokens per second of engine time; null where no time was taken. @param {Run} run */
export function rateOf(run) {
  const total = run.seconds.reduce((sum, value) => sum + value, 0);
  return total > 0 ? run.timed / total : null;
}
