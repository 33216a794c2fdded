// What a rule writes on a node, and all rules side by side. Every word about a rule says what was
// computed; what could not be computed is called proven or only declared.

import { barTable } from '../base/bars.js';
import { button, finder, make, query } from '../base/dom.js';
import { short } from '../base/text.js';
import { SCHEMES } from '../base/words.js';

/** @typedef {import('./types.js').RuleRow} RuleRow */

/** A difference, with a sign at which no line breaks. @param {number} value */
const deviationText = value => short(value).replace('-', '−');


/**
 * What is known of a rule here, and what that rests on.
 * @param {RuleRow} row
 * @returns {[string, string]}
 */
export function verdictOf(row) {
  const { kind, title, deviation, runs, declared, reason } = row;
  if (kind === 'impossible' || kind === 'failed') return [reason, ''];
  if (deviation === null)
    return [
      `That ${title} is ${declared ? 'lossless' : 'lossy'} is ${kind}.`,
      'Not computed here: there are too many outcomes, or infinitely many, as in a race.',
    ];
  const computed = runs === 1 ? 'Nothing here is random' : `All ${runs} outcomes computed`;
  const equal = deviation ? `equal but for rounding (${deviationText(deviation)})` : 'equal';
  if (kind === 'equal')
    return [
      `${title} writes exactly the target’s distribution p.`,
      `${computed}; ${equal}.` +
        (declared ? '' : ' Only here: the rule is lossy in general.'),
    ];
  return [
    `${title} does not write the target’s distribution p.`,
    `${computed}; the largest difference from p is ${deviationText(deviation)}.` +
      (declared ? ' The rule is declared lossless; this node refutes it.' : ''),
  ];
}

/** What a rule writes, as a cell has room for it. @param {RuleRow} row */
export function wordFor({ kind, deviation, declared }) {
  if (kind === 'equal') return declared ? '= p' : '= p here';
  if (kind === 'differs') return `≠ p, by ${deviationText(deviation ?? 0)}`;
  return `${declared ? '=' : '≠'} p, ${kind === 'proven' ? 'by proof' : 'as declared'}`;
}

/** @param {{ of: number, texts: number[][] }} law @param {number} levels */
function captionOf({ of, texts }, levels) {
  const written = levels > 1 ? `the first ${levels} tokens` : 'the first token';
  const part = of > texts.length ? `, the ${texts.length} most probable of ${of} texts` : '';
  return `what is written over all outcomes: ${written}${part}`;
}

/**
 * @param {HTMLElement} root
 * @param {import('./types.js').Seen} data
 * @param {string[]} names
 * @param {number} levels
 */
export function writeLaw(root, { row, law }, names, levels) {
  const $ = finder(root, 'sv-v-');
  [$('verdict').textContent, $('proof').textContent] = verdictOf(row);
  $('answer').dataset.kind = row.kind;
  if (!law) return $('law').replaceChildren();
  const table = barTable({
    caption: captionOf(law, levels),
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
    applies = (/** @type {RuleRow} */ { kind }) => kind !== 'impossible' && kind !== 'failed',
    others = rows.filter(row => !applies(row));
  const accepted = levels > 1 ? `accepted of ${levels}, on average` : 'accepted on average';
  const titles = ['rule', accepted, '', 'writes', 'children are chosen'];
  const head = make('tr', titles.map(text => make(text ? 'th' : 'td', text)));
  const lines = rows.filter(applies).map(row => {
    const look = { class: 'sv-plain', 'aria-pressed': row.rule === selected };
    const pick = button(row.title, () => chosen(row.rule), look);
    const bar = make('i');
    bar.style.width = `${100 * Math.min(1, (row.accepted ?? 0) / levels)}%`;
    const written = { class: `kind ${row.kind.split(' ')[0]}`, title: verdictOf(row).join(' ') };
    const cells = [
      make('th', [pick]),
      make('td', row.accepted?.toFixed(3) ?? 'not computed'),
      make('td', [bar], 'drawn'),
      make('td', wordFor(row), written),
      make('td', SCHEMES[row.scheme ?? '']),
    ];
    return make('tr', cells, row.rule === selected ? 'own' : '');
  });
  $('table').tHead.replaceChildren(head);
  $('table').tBodies[0].replaceChildren(...lines);
  $('others').hidden = !others.length;
  query($('others'), 'summary').textContent = `Rules that do not apply here: ${others.length}`;
  query($('others'), 'ul').replaceChildren(...others.map(({ reason }) => make('li', reason)));
}
