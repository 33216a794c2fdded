// A text whose tokens are coloured by their rank under the draft: the first ones filled, darker to lighter, with
// their number, all others underlined twice.

import { make } from '../base/dom.js';

/**
 * @typedef {{ label: string, share: number, said: string }} Row
 * @typedef {{ text: string, rank: number, q: number, p: number, guesses: [string, number][] }} Ranked
 * @typedef {{ prompt: string, tokens: Ranked[], rows: Row[], beyond: Row }} Ranks
 */

/** @type {import('./view.js').View} */
export function ranksView(picture) {
  const text = make('p', '', 'sv-ranks-text'), counts = make('table', '', 'sv-ranks-counts'), about = make('div', '', 'sv-ranks-about');
  let known = /** @type {Ranks | null} */ (null), chosen = -1;
  text.tabIndex = 0;
  text.setAttribute('role', 'group');
  text.setAttribute('aria-label', 'the text; the up and down arrow keys select a token');
  about.setAttribute('role', 'status');
  picture.append(text, counts, about);

  text.addEventListener('click', event => {
    const token = /** @type {HTMLElement} */ (event.target).closest('[data-at]');
    if (token) select(Number(token.getAttribute('data-at')));
  });
  text.addEventListener('keydown', event => {
    if (!known || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
    event.preventDefault();
    select(Math.min(known.tokens.length - 1, Math.max(0, chosen + (event.key === 'ArrowUp' ? -1 : 1))));
  });

  /** @param {number} at */
  function select(at) {
    if (!known) return;
    chosen = at;
    text.querySelectorAll('[data-at]').forEach((span, i) => span.classList.toggle('chosen', i === at));
    if (at < 0) return about.replaceChildren(make('p', 'Select a token to see what the draft guessed there.'));
    const token = known.tokens[at], list = make('ol');
    list.append(...token.guesses.map(([piece, q], i) => {
      const line = make('li', '', i + 1 === token.rank ? 'own' : ''), bar = make('i'), part = make('u');
      part.style.width = `${100 * q}%`;
      bar.append(part);
      line.append(make('code', seen(piece)), bar, make('b', q.toFixed(3)));
      return line;
    }));
    const line = make('p');
    line.append('The target wrote ', make('code', seen(token.text)), `: rank ${token.rank} under the draft, q = ${token.q.toPrecision(2)}, p = ${token.p.toPrecision(2)}. ` +
      'The draft’s best guesses there:');
    about.replaceChildren(line, list);
  }

  return (/** @type {Ranks} */ data, step, _, node) => {
    const k = step + 1;
    if (data !== known) {
      known = data;
      text.replaceChildren(make('span', data.prompt, 'sv-ranks-prompt'), ...data.tokens.map(({ text: piece, rank }, i) => {
        const token = make('span', piece);
        token.dataset.at = String(i);
        token.dataset.rank = rank > data.rows.length ? 'far' : String(rank);
        token.title = `rank ${rank}`;
        return token;
      }));
      counts.replaceChildren(make('caption', 'tokens among the draft’s k best'), ...[...data.rows, data.beyond].map(({ label, share, said }, i) => {
        const row = make('tr'), cell = make('td'), bar = make('i'), part = make('u');
        part.style.width = `${100 * share}%`;
        bar.append(part);
        cell.append(bar);
        const head = make('th', label);
        head.scope = 'row';
        head.dataset.rank = i < data.rows.length ? String(i + 1) : 'far';
        row.append(head, cell, make('td', said));
        return row;
      }));
      select(-1);
    }
    if (node !== null) select(Math.min(node, data.tokens.length - 1));
    text.querySelectorAll('[data-at]').forEach((token, i) => token.classList.toggle('in', data.tokens[i].rank <= k));
    counts.querySelectorAll('tr').forEach((row, i) => row.classList.toggle('now', i + 1 === k));
  };
}

/** @param {string} piece */
const seen = piece => piece.replace(/\n/g, '↵').replace(/ /g, '␣') || '∅';
