// What a rule writes on a node, and all rules side by side, in the server's words.

import { barTable } from '../base/bars.js';
import { button, finder, make, query } from '../base/dom.js';
import { SCHEMES } from '../base/words.js';

/** @typedef {import('./types.js').RuleRow} RuleRow */

/**
 * @param {HTMLElement} root
 * @param {import('./types.js').Seen} data
 * @param {string[]} names
 */
export function writeLaw(root, { row, law }, names) {
  const $ = finder(root, 'sv-v-');
  $('verdict').textContent = row.verdict;
  $('proof').textContent = row.proof;
  $('verdict').dataset.kind = row.kind;
  if (!law) return $('law').replaceChildren();
  const table = barTable({
    caption: law.caption,
    series: [
      { name: 'target p', kind: 'p' },
      { name: 'the rule', kind: row.kind === 'equal' ? 'accepted' : 'rejected' },
    ],
    rows: law.texts.map((tokens, i) => ({
      name: tokens.map(token => names[token]).join(' '),
      values: [law.target[i], law.rule[i]],
    })),
  });
  $('law').replaceChildren(table);
}

/**
 * A row for each rule that can verify this tree; below the table why the others cannot.
 * @param {HTMLElement} root
 * @param {{ levels: number, rows: RuleRow[] }} data
 * @param {string} selected
 * @param {(rule: string) => void} chosen
 */
export function writeRules(root, { rows, levels }, selected, chosen) {
  const $ = finder(root, 'sv-v-'),
    applies = (/** @type {RuleRow} */ { kind }) => kind !== 'impossible',
    others = rows.filter(row => !applies(row));
  const lines = rows.filter(applies).map(row => {
    const look = { class: 'sv-plain', 'aria-pressed': row.rule === selected };
    const pick = button(row.title, () => chosen(row.rule), look);
    const bar = make('i');
    bar.style.width = `${100 * Math.min(1, (row.accepted ?? 0) / levels)}%`;
    const title = `${row.verdict} ${row.proof}`;
    const written = { class: `kind ${row.kind.split(' ')[0]}`, title };
    const cells = [
      make('th', [pick]),
      make('td', row.accepted?.toFixed(3) ?? 'not computed'),
      make('td', [bar], 'drawn'),
      make('td', row.word, written),
      make('td', SCHEMES[row.scheme ?? '']),
    ];
    return make('tr', cells, row.rule === selected ? 'own' : '');
  });
  $('accepted').textContent = `accepted${levels > 1 ? ` of ${levels},` : ''} on average`;
  $('table').tBodies[0].replaceChildren(...lines);
  $('others').hidden = !others.length;
  query($('others'), 'summary').textContent = `Rules that do not apply here: ${others.length}`;
  query($('others'), 'ul').replaceChildren(...others.map(({ verdict }) => make('li', verdict)));
}
