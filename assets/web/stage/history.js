// The last runs, as their messages come; which of them is on the screen is the player's business.

import { emptyRun, originOf, takeMessage } from './run.js';

/** @typedef {import('./run.js').Run} Run */

const MOST = 6; // the last five, and the one that the page opens with

export function runHistory() {
  const runs = [emptyRun(null)]; // the newest at the end
  const left = new Set(); // names of runs that made room for one from a file

  return {
    runs,
    /** Ignores what still comes of a run. @param {Run} run */
    leave: run => left.add(run.name),
    /**
     * Takes a message; returns the run that it is about and the steps that are new, or null where
     * nothing is to be shown of it.
     * @param {Message} message
     * @param {Run} shown the run on the screen
     */
    take(message, shown) {
      if (left.has(message.run) || isRecordingOf(message, shown)) return null;
      let run = runs.find(({ name }) => name === message.run);
      const isBegun = message.run !== '' && !run;
      if (isBegun) {
        run = emptyRun(message.run);
        runs.push(run);
        if (runs.length > MOST) runs.shift();
      }
      const newest = runs[runs.length - 1];
      run ??= newest;
      const steps = takeMessage(run, message);
      // somebody looks at another run meanwhile
      if (run !== shown && !message.head && run === newest && !isBegun) return null;
      return { run, steps, isBegun };
    },
  };
}

/**
 * Whether a message is a recording of what the run on the screen has just computed.
 * @param {Message} message
 * @param {Run} run
 */
function isRecordingOf({ head, models, weights }, run) {
  if (!head?.recorded || originOf(run) !== 'run') return false;
  const isSame = head.settings === run.head.settings && head.prompt === run.head.prompt;
  return isSame && models === run.models && weights === run.weights;
}
