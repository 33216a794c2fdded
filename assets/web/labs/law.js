// What the Verification lab says of a rule as a whole: the output distribution against p, and all rules side by side.

import { button, finder, make, query, say } from '../base/dom.js';
import { SCHEMES } from '../base/words.js';
import { measureBars } from './measures.js';
import { barTable } from './tries.js';

const EXACT = 1e-12;

/** A sentence with a mark of its kind. @param {HTMLElement} line @param {string} kind @param {string} text */
export function notice(line, kind, text) {
  line.dataset.kind = kind;
  say(query(line, '.text'), text);
}

/** @param {number} value */
const small = value => (value === 0 ? '0' : value.toExponential(0).replace('e-', '·10⁻').replace(/\d+$/, digits => [...digits].map(d => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(d)]).join('')));

/**
 * @param {HTMLElement} root
 * @param {import('./types.js').Exact | null} exact
 * @param {{ names: string[], levels: number }} about the node
 * @param {string} rule its title
 * @param {boolean} promised whether the rule promises to be lossless here
 */
export function writeLaw(root, exact, about, rule, promised) {
  const $ = finder(root, 'sv-v-'), box = $('chart');
  if (!exact || !exact.texts) {
    notice($('exact'), '', '');
    box.replaceChildren(make('p', exact ? 'Too many outcomes to enumerate; use fewer tokens or children.'
      : 'This rule is incompatible with this tree.', 'sv-v-note'));
    return;
  }
  const equal = exact.deviation <= EXACT;
  const how = exact.proof === 'enumeration' ? `${exact.runs === 1 ? 'the only outcome' : `all ${exact.runs} outcomes`} of ${rule} enumerated` : 'the winner of the target’s own race has the distribution p';
  const told = equal ? `Equal to the target’s distribution (largest deviation ${small(exact.deviation)}; ${how}).`
    : `Not the target’s distribution: the largest deviation is ${exact.deviation.toFixed(4)} (${how}).`;
  notice($('exact'), equal ? 'lossless' : 'lossy', told + (equal && !promised ? ' Only for these distributions: the rule is not lossless in general.' : ''));
  const texts = exact.texts.map(text => text.map(token => about.names[token]).join(' '));
  const caption = exact.of > texts.length ? `the ${texts.length} most probable of ${exact.of} texts` : about.levels > 1 ? `the first ${about.levels} tokens` : 'the first token';
  const chart = barTable(caption, texts, { p: exact.own, written: exact.written });
  query(chart, 'thead tr').append(make('th', 'difference'));
  chart.querySelectorAll('tbody tr').forEach((row, i) => {
    const by = exact.written[i] - exact.own[i], none = Math.abs(by) < 5e-5;
    row.append(make('td', none ? '0' : `${by > 0 ? '+' : '−'}${Math.abs(by).toFixed(4)}`, none ? '' : 'off'));
  });
  box.replaceChildren(chart);
}

/**
 * @param {HTMLElement} root
 * @param {import('./types.js').Rules} data
 * @param {string} own the rule that is looked at
 * @param {(rule: string) => void} chosen
 */
export function writeRules(root, data, own, chosen) {
  const $ = finder(root, 'sv-v-'), most = Math.max(data.levels, 1e-9), chain = data.levels > 1;
  $('note').textContent = chain
    ? 'Expected number of accepted tokens. The line is an upper bound, the sum of 1 − TV over the distributions of the first tokens; it may not be attainable.'
    : 'The probability that a child is accepted. The line is the optimal-transport upper bound of lossless rules for this sampling scheme.';
  const head = make('tr');
  head.append(...['rule', '', chain ? `tokens of ${data.levels}` : 'accepted', 'bound', 'children', 'scheme'].map(text => make(text ? 'th' : 'td', text)));
  $('rules').querySelector('thead').replaceChildren(head);
  $('rules').querySelector('tbody').replaceChildren(...data.rows.map(row => ruleRow(row, most, own, chosen)));
  measureBars($('first'), data.first);
}

/**
 * @param {import('./types.js').RuleRow} row
 * @param {number} most tokens that can be accepted
 * @param {string} own the rule that is looked at
 * @param {(rule: string) => void} chosen
 */
function ruleRow(row, most, own, chosen) {
  const made = make('tr', '', row.rule === own ? 'own' : ''), name = make('th'), pick = button(row.title, () => chosen(row.rule));
  pick.title = row.reason;
  pick.setAttribute('aria-pressed', String(row.rule === own));
  name.append(pick);
  if (row.kind === 'impossible') {
    const why = make('td', '', 'none');
    why.colSpan = 5;
    why.append(make('span', row.reason));
    made.append(name, why);
    return made;
  }
  const { deviation } = row, drawn = make('td'), off = deviation !== null && deviation > EXACT;
  if (row.accepted !== null) {
    const track = make('i'), bar = make('u', '', row.kind), line = make('em');
    bar.style.width = `${100 * Math.min(1, row.accepted / most)}%`;
    line.style.left = `${100 * Math.min(1, row.ceiling / most)}%`;
    track.append(bar, line);
    drawn.append(track);
  }
  const law = make('td', row.kind === 'lossy' ? `≠ ${off ? deviation.toFixed(3) : 'lossy'}` : '= p', `sv-v-kind ${row.kind}`);
  law.title = `${row.reason} ${row.proof === 'enumeration' ? `${row.runs} ${row.runs === 1 ? 'outcome' : 'outcomes'} enumerated.` : row.proof === 'closed form' ? 'Closed form.' : 'Too many outcomes to enumerate.'}`;
  const counted = make('td', row.accepted === null ? 'too many' : row.accepted.toFixed(4));
  made.append(name, drawn, counted, make('td', row.ceiling.toFixed(4)), make('td', SCHEMES[row.scheme] || row.scheme), law);
  return made;
}
