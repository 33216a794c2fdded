// The text of a lesson as elements: paragraphs, tables, terms that explain themselves, mentions of
// the picture. Text only becomes text nodes.

import { make } from '../base/dom.js';
import { termed } from '../base/terms.js';

/** @typedef {import('./types.js').Block} Block */
/** @typedef {import('./types.js').Span} Span */
/** @typedef {(text: string) => any[]} Mention the text with its mentions as elements */

/**
 * @param {HTMLElement} parent
 * @param {Block[]} blocks
 * @param {Mention} [mention]
 */
export function writeBlocks(parent, blocks, mention = text => [text]) {
  /** @param {Span} span @returns {(Node | string)[]} */
  function written([text, kind]) {
    if (kind.startsWith('?')) return [Object.assign(make('a', text), { href: kind })];
    if (kind === 'strong' || kind === 'em') return [make(kind, text)];
    return mention(text).flatMap(part => (typeof part === 'string' ? termed(part) : part));
  }

  /** @param {Block} block */
  function element({ spans, rows }) {
    if (spans) return make('p', spans.flatMap(written));
    const [head, ...body] = rows.map((row, i) =>
      make('tr', row.map((cell, j) => make(i && j ? 'td' : 'th', cell.flatMap(written)))),
    );
    return make('table', [make('thead', [head]), make('tbody', body)]);
  }
  parent.replaceChildren(...blocks.map(element));
}
