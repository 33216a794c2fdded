// Tokens and numbers as a person can read them, and how wide text is, so that labels of any script
// keep clear of each other.

import { pen } from './dom.js';

/**
 * A token as a person can see it: spaces, line breaks and control characters get a sign.
 * @param {string} text
 */
export function visible(text) {
  return (
    text
      .replace(/\r?\n/g, '↵')
      .replace(/\t/g, '⇥')
      .replace(/ /g, '·')
      .replace(
        /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
        c => '\\x' + c.charCodeAt(0).toString(16).padStart(2, '0'),
      ) || '∅'
  );
}

/**
 * The same inside a sentence; spaces keep their sign where there is nothing else to read.
 * @param {string} text
 */
export function readable(text) {
  return visible(text).replace(/·/g, ' ').trim() || visible(text);
}

/** A number with its noun. @param {number} number @param {string} word */
export function plural(number, word) {
  if (number === 1) return `1 ${word}`;
  return `${number} ${word}${word.endsWith('s') ? 'es' : 's'}`;
}

/** A probability in a sentence, with two digits that count. @param {number} value */
export function short(value) {
  return value > 0 && value < 0.095 ? String(Number(value.toPrecision(2))) : value.toFixed(2);
}

/** A probability in a table, where all have as many digits. @param {number} value */
export function probability(value) {
  return value > 0 && value < 0.0005 ? value.toExponential(1) : value.toFixed(3);
}

/**
 * A function that measures text in one font, with a memory.
 * @param {string} font as CSS writes it
 * @returns {(text: string) => number} pixels
 */
export function ruler(font) {
  const measuring = pen(),
    known = new Map();
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
