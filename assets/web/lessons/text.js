// The text of a lesson as elements: paragraphs, tables, terms that explain themselves, mentions of
// the picture. Text only becomes text nodes.

import { make } from '../base/dom.js';
import { termed } from '../base/terms.js';

/** @typedef {import('./types.js').Block} Block */
/** @typedef {import('./types.js').Span} Span */
/** @typedef {(text: string) => (Node | string)[]} Mention the text with its mentions as elements */

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
    /** @type {(part: Node | string) => (Node | string)[]} */
    const explained = part => (typeof part === 'string' ? termed(part) : [part]);
    return mention(text).flatMap(explained);
  }

  /** @param {Block} block */
  function element({ spans, rows }) {
    if (!spans) return tableOf(rows, cell => cell.flatMap(written));
    return make('p', spans.flatMap(written));
  }
  parent.replaceChildren(...blocks.map(element));
}

/** @param {Span[][][]} rows @param {(cell: Span[]) => (Node | string)[]} write */
function tableOf(rows, write) {
  const [head, ...body] = rows.map((row, i) =>
    make('tr', row.map((cell, j) => make(i && j ? 'td' : 'th', write(cell)))),
  );
  return make('table', [make('thead', [head]), make('tbody', body)]);
}
