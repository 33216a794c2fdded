// The text of a lesson as elements: paragraphs, tables, terms that explain themselves, mentions of
// the picture. Text only becomes text nodes.

import { make } from '../base/dom.js';
import { termed } from '../base/terms.js';

/** @typedef {import('./types.js').Part} Part */

/**
 * @param {Part[]} parts
 * @param {(text: string) => (HTMLElement | string)[]} mention the text and its mentions
 * @returns {(HTMLElement | string)[]}
 */
export function written(parts, mention) {
  return parts.flatMap(part => {
    if (typeof part !== 'string')
      return make(part.tag, written(part.parts, mention), part.attrs);
    return mention(part).flatMap(piece => (typeof piece === 'string' ? termed(piece) : piece));
  });
}
