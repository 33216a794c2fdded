// Whether the picture is of what the controls hold: a change that was not run yet dims it.

import { onPage } from '../base/page.js';
import { isOver } from './run.js';

/** @typedef {import('./run.js').Run} Run */

/** @param {HTMLElement} element @param {string} prompt selects the box of the prompt @param {() => void} changed */
export function freshness(element, prompt, changed) {
  let held = /** @type {Held | null} */ (null), first = '';
  onPage(element, 'input', ({ target }) => { if (target.closest?.(prompt)) changed(); });

  return {
    /** What the controls hold now. @param {Held} now */
    hold(now) {
      first ||= now.models;
      held = now;
      changed();
    },
    /** @param {Run} run */
    stale(run) {
      const { settings, prompt: begun } = run.head, { models } = run, box = /** @type {HTMLTextAreaElement | null} */ (document.querySelector(`${prompt} :is(textarea, input)`));
      if (!held || !settings || !(isOver(run) || run.state === 'loading')) return false;
      return held.settings !== settings || held.models !== (models ?? first) || (box !== null && box.value !== begun);
    },
  };
}
