// How wide text is, so that labels of any script keep clear of each other.

import { pen } from './dom.js';

/**
 * A function that measures text in one font, with a memory.
 * @param {string} font as CSS writes it
 * @returns {(text: string) => number} pixels
 */
export function ruler(font) {
  const measuring = pen(), known = new Map();
  measuring.font = font;
  return text => {
    if (!known.has(text)) known.set(text, measuring.measureText(text).width);
    return known.get(text);
  };
}

const letters = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/**
 * The text, or as much of its beginning as fits into the room with an ellipsis behind it.
 * @param {string} text
 * @param {number} room
 * @param {(text: string) => number} width
 */
export function fitted(text, room, width) {
  if (width(text) <= room) return text;
  const parts = [...letters.segment(text)].map(({ segment }) => segment);
  while (parts.length && width(`${parts.join('')}…`) > room) parts.pop();
  return `${parts.join('')}…`;
}
