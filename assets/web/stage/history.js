// The last runs, as their messages come; which of them is on the screen is the player's business.

import { emptyRun, isBusy, takeMessage, takeStop } from './run.js';

/** @typedef {import('./run.js').Run} Run */

const MOST = 6; // the last five, and the one that the page opens with

export function runHistory() {
  const runs = [emptyRun()]; // the newest at the end

  return {
    runs,
    /**
     * Takes a message; returns the run that it is about, the steps that are new and whether its
     * run is to be on the screen. Null where the message is about no run that is listed.
     *
     * A late message of a run never replaces the run that a visitor has chosen since.
     * @param {Message} message
     * @param {Run} current the run on the screen
     * @param {boolean} [isAwaited] whether no other run was put on the screen since Run was pressed
     */
    take(message, current, isAwaited = true) {
      if (isRecordingOf(message, current)) return null;
      let run = runs.find(({ name }) => name === message.run);
      // A message without a name is about the run that is computed or waited for.
      if (message.run === '') run = runs.findLast(isBusy) ?? (isAwaited ? current : undefined);
      const isListed = !run && message.head !== undefined;
      const isBegun = isListed && !message.head?.recorded;
      // A new run takes the place of one that is computed: mark that one as stopped.
      if (isBegun) runs.filter(isBusy).forEach(takeStop);
      if (isListed) {
        run = emptyRun(message.run);
        runs.push(run);
        if (runs.length > MOST) runs.shift();
      }
      if (!run) return null;
      const steps = takeMessage(run, message);
      const isOnScreen = run === current || replaces(message, current, isAwaited);
      return { run, steps, isOnScreen };
    },
  };
}

/**
 * Whether the run that a message begins takes the place of the one on the screen: a recording that
 * was asked for, the run that Run was pressed for, or a run of what is on the screen.
 * @param {Message} message
 * @param {Run} current
 * @param {boolean} isAwaited
 */
const replaces = (message, current, isAwaited) =>
  message.head !== undefined &&
  (message.head.recorded || isAwaited || isSame(message, current));

/**
 * Whether a message begins a run of the same settings.
 * @param {Message} message
 * @param {Run} run
 */
function isSame({ head, models, weights }, run) {
  const isOfSettings =
    head?.settings === run.head.settings && head?.prompt === run.head.prompt;
  return isOfSettings && models === run.models && weights === run.weights;
}

/**
 * Whether a message is a recording of what the run on the screen has just computed.
 * @param {Message} message
 * @param {Run} run
 */
const isRecordingOf = (message, run) =>
  Boolean(message.head?.recorded) && run.origin === 'run' && isSame(message, run);
