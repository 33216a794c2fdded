// What a lesson's text says of its pictures as buttons: "step 5" shows that step, a quoted token
// selects its node.

import { button } from '../base/dom.js';
import { readable } from '../base/text.js';

/** @typedef {import('./types.js').Place} Place */

const MENTIONS = /([Ss]tep \d+|“[^”]+”)/;

/**
 * Finds the place that a mention means in the recorded runs of a lesson: the nearest step with the
 * token, from the one that the text spoke of last.
 * @param {import('./types.js').Lesson} lesson
 */
export function placesOf({ pictures, opens }) {
  let { picture, step } = opens;

  /** @param {string} text @returns {Place | null} */
  return text => {
    const steps = pictures[picture]?.message?.steps ?? [];
    const number = Number(text.split(' ')[1]) - 1;
    if (/^step \d+$/i.test(text)) {
      if (!steps[number]) return null;
      step = number;
      return { picture, step, node: null };
    }
    const name = text.slice(1, -1).trim();
    for (const at of [step, ...steps.keys()]) {
      const node = steps[at]?.texts.findIndex((one, i) => i > 0 && readable(one) === name) ?? -1;
      if (node > 0) return { picture, step: at, node };
    }
    return null;
  };
}

/**
 * Text with its mentions as buttons.
 * @param {string} text
 * @param {(text: string) => Place | null} placeOf
 * @param {(place: Place) => void} show
 * @returns {(HTMLElement | string)[]}
 */
export function mentioned(text, placeOf, show) {
  return text.split(MENTIONS).map((part, i) => {
    const place = i % 2 ? placeOf(part) : null;
    return place ? button(part, () => show(place), 'sv-plain sv-mention') : part;
  });
}
