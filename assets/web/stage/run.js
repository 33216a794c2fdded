// What is known of a run: its steps and its numbers as they come. No page here.

import { pathOf } from '../base/ribbon.js';

/** @param {string} [name] */
export function emptyRun(name = '') {
  return {
    name,
    origin: name.split(' ')[0], // "recorded-…", "run", "file" or "lesson"
    models: /** @type {string | undefined} */ (undefined),
    weights: /** @type {string | undefined} */ (undefined),
    head: /** @type {Partial<Head>} */ ({}),
    state: '',
    note: '',
    sum: '', // the check sum of its text, once it is whole
    done: /** @type {number | undefined} */ (undefined), // the share of its loading
    steps: /** @type {Step[]} */ ([]),
    same: /** @type {Message['same']} */ (undefined), // how its text compares with plain decoding
    figures: /** @type {Message['figures']} */ (undefined),
    // plain decoding, timed in turns with it; a recorded run has one of each
    speedup: /** @type {Message['speedup']} */ (undefined),
    // how far that is, once the run itself is whole
    timing: /** @type {Message['timing']} */ (undefined),
    show: 0, // the step to open it at
  };
}

/** @typedef {ReturnType<typeof emptyRun>} Run */

/** @param {Run} run */
export const isOver = run => ['done', 'stopped', 'error'].includes(run.state);

/** Whether a job computes it, compares its text, or loads its models. @param {Run} run */
export const isBusy = run =>
  ['running', 'loading'].includes(run.state) || run.same?.kind === 'checking';

/**
 * Takes a message about this run; returns the steps that are new.
 * @param {Run} run
 * @param {Message} update
 */
export function takeMessage(run, update) {
  const { run: name, steps, state, note = '', done, ...facts } = update;
  Object.assign(run, facts);
  if (state === 'stopped') takeStop(run);
  else if (state) Object.assign(run, { state, note, done });
  return steps.filter(step => !run.steps[step.index]).map(step => addStep(run, step));
}

/**
 * What is stopped while it waits or loads leaves the run on the screen as it was.
 * @param {Run} run
 */
export function takeStop(run) {
  const wasTimed = run.state === 'running' && run.timing;
  run.state = run.state === 'running' && !wasTimed ? 'stopped' : 'done';
  run.note = '';
  if (wasTimed) {
    run.note = 'Whole run; its timing was stopped.';
  }
  if (run.same?.kind === 'checking') run.same = undefined;
}

/** @param {Pick<Run, 'steps'>} run @param {Sent} sent */
export function addStep(run, sent) {
  sent.detail ??= {};
  /** @type {Step} */
  const step = Object.assign(sent, { path: pathOf(sent) });
  run.steps[step.index] = step;
  return step;
}
