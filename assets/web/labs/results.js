// What a rule writes on a node, and all rules side by side. Every word about a rule says what was
// computed; what could not be computed is called proven or only declared.

import { barTable } from '../base/bars.js';
import { button, finder, make } from '../base/dom.js';
import { SCHEMES } from '../base/words.js';

/** @typedef {import('./types.js').RuleRow} RuleRow */

const KINDS = {
  equal: '= p',
  differs: '≠ p',
  proven: 'proven',
  'only declared': 'declared',
  impossible: '',
  failed: 'failed',
};

/** @param {number} value */
function deviationText(value) {
  if (value === 0) return '0';
  return value < 1e-4 ? value.toExponential(0) : value.toFixed(4);
}

/** One sentence on what is known of a rule here. @param {RuleRow} row */
export function verdictOf({ kind, title, deviation, runs, declared, reason }) {
  const outcomes = runs === 1 ? 'the only outcome' : `all ${runs} outcomes`;
  const largest = deviationText(deviation ?? 0);
  if (kind === 'equal') {
    return (
      `= p. ${title} writes the target’s distribution here ` +
      `(${outcomes} computed, largest deviation ${largest}).` +
      (declared ? '' : ' Only here: the rule is lossy in general.')
    );
  }
  if (kind === 'differs') {
    return (
      `≠ p. ${title} does not write the target’s distribution: ` +
      `it deviates by ${largest} (${outcomes} computed).` +
      (declared ? ' The rule is declared lossless; this node refutes it.' : '')
    );
  }
  if (kind === 'impossible' || kind === 'failed') return reason;
  const claim = `That ${title} is ${declared ? 'lossless' : 'lossy'} is ${kind}.`;
  return `Not computed here: too many outcomes, or noise that is continuous. ${claim}`;
}

/** @param {{ of: number, texts: number[][] }} law @param {number} levels */
function captionOf({ of, texts }, levels) {
  if (of > texts.length) return `the ${texts.length} most probable of ${of} texts`;
  return levels > 1 ? `the first ${levels} tokens` : 'the first token';
}

/**
 * @param {HTMLElement} root
 * @param {import('./types.js').Seen} data
 * @param {string[]} names
 * @param {number} levels
 */
export function writeLaw(root, { row, law }, names, levels) {
  const $ = finder(root, 'sv-v-'),
    line = $('verdict');
  line.textContent = verdictOf(row);
  line.dataset.kind = row.kind;
  if (!law) return $('law').replaceChildren();
  const text = (/** @type {number[]} */ tokens) => tokens.map(token => names[token]).join(' ');
  const table = barTable({
    caption: captionOf(law, levels),
    series: [
      { name: 'target p', kind: 'p' },
      { name: 'the rule', kind: row.kind === 'equal' ? 'accepted' : 'rejected' },
    ],
    rows: law.texts.map((tokens, i) => ({
      name: text(tokens),
      values: [law.target[i], law.rule[i]],
    })),
    write: value => value.toFixed(4),
    place: value => value,
  });
  $('law').replaceChildren(table);
}

/**
 * @param {HTMLElement} root
 * @param {{ levels: number, rows: RuleRow[] }} data
 * @param {string} selected
 * @param {(rule: string) => void} chosen
 */
export function writeRules(root, { rows, levels }, selected, chosen) {
  const $ = finder(root, 'sv-v-'),
    head = make('tr');
  head.append(
    ...[
      'rule',
      levels > 1 ? `tokens of ${levels}` : 'accepted',
      '',
      'children',
      'writes',
      'deviation',
    ].map(text => make(text ? 'th' : 'td', text)),
  );
  $('table').tHead.replaceChildren(head);
  $('table').tBodies[0].replaceChildren(
    ...rows.map(row => {
      const line = make('tr', '', row.rule === selected ? 'own' : ''),
        name = make('th'),
        pick = button(row.title, () => chosen(row.rule), 'sv-plain');
      pick.setAttribute('aria-pressed', String(row.rule === selected));
      name.append(pick);
      if (row.kind === 'impossible' || row.kind === 'failed') {
        const why = make('td', row.reason, 'none');
        why.colSpan = 5;
        line.append(name, why);
        return line;
      }
      const track = make('td', '', 'drawn'),
        bar = make('i');
      bar.style.width = `${100 * Math.min(1, (row.accepted ?? 0) / levels)}%`;
      track.append(bar);
      const kind = make('td', KINDS[row.kind], `kind ${row.kind.split(' ')[0]}`);
      kind.title = verdictOf(row);
      line.append(
        name,
        make('td', row.accepted === null ? '–' : row.accepted.toFixed(4)),
        track,
        make('td', SCHEMES[row.scheme ?? ''] ?? row.scheme ?? ''),
        kind,
        make('td', row.deviation === null ? '–' : deviationText(row.deviation)),
      );
      return line;
    }),
  );
}
