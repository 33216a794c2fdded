// What a lesson's text says of its pictures as buttons: the quoted name of a picture opens it,
// "step 5" shows that step of it, a quoted token selects its node.

import { button } from '../base/dom.js';
import { placeText } from '../base/place.js';
import { readable } from '../base/text.js';

/** @typedef {import('./types.js').Place} Place */

const MENTIONS = /([Ss]tep \d+|“[^”]+”)/;

/**
 * Finds the place that a mention means in the pictures of a lesson: of the one that the text spoke
 * of last the nearest step with the token.
 * @param {import('./types.js').Lesson} lesson
 */
export function placesOf({ pictures, opens }) {
  let { picture, step } = opens;

  /** @param {string} text @returns {Place | null} */
  return text => {
    const name = text.slice(1, -1).trim();
    const named = pictures.findIndex(({ label }) => label === name);
    if (named >= 0) {
      picture = named;
      step = 0;
      return { picture, step, node: null };
    }
    const steps = pictures[picture]?.message?.steps ?? [];
    if (!text.startsWith('“')) {
      step = Number(text.split(' ')[1]) - 1;
      return steps[step] ? { picture, step, node: null } : null;
    }
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
    if (!place) return part;
    const mention = button(part, () => show(place), 'sv-plain sv-mention');
    mention.dataset.place = `${place.picture} ${placeText(place.step, place.node)}`;
    return mention;
  });
}
