// What a rule recorded about a node, drawn: rows over a few tokens as bars, races as arrival times, numbers. It is what
// payload.py sends of `Step.detail`; nothing here knows a rule.

import { barTable } from '../base/bars.js';
import { make } from '../base/dom.js';
import { probability, visible } from '../base/text.js';
import { FACTS, ROWS } from '../base/words.js';

/** @typedef {import('../base/types.js').Chart} Chart */
/** @typedef {import('../base/types.js').Step} Step */

const ORDER = ['p', 'draft', 'residual']; // rows in this order, others after them
const RACE = 'arrival times (log scale), the smallest wins';

/**
 * A chart without the tokens to which no row gives a ten-thousandth: a target that is sure of one token has no second.
 * @param {Chart} chart
 * @param {number | null} [own] stays in any case
 * @returns {Chart}
 */
export function weighed({ tokens, texts, rows }, own) {
  const places = tokens.map((_, at) => at).filter(at => tokens[at] === own || Object.values(rows).some(row => row[at] >= 1e-4));
  /** @type {<T>(list: T[]) => T[]} */
  const picked = list => places.map(at => list[at]);
  return { tokens: picked(tokens), texts: picked(texts), rows: Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, picked(row)])) };
}

/**
 * The tables and numbers on a node, the token that the target adds ("last"), or nothing on the whole step.
 * @param {Step} step
 * @param {number | 'last' | undefined} key
 * @returns {HTMLElement[]}
 */
export function detailOf(step, key) {
  if (key === undefined) return [];
  const end = key === 'last' ? step.path.at(-1) ?? 0 : key, here = step.detail[end] ?? {};
  const above = end > 0 && key !== 'last' ? step.detail[step.parents[end]] ?? {} : {}, own = key === 'last' ? step.own : step.tokens[end];
  if (key === 'last') return [...bars('distribution of this token', here.after, own), ...races('race of this token', here.race, own)];
  return [
    ...numbers({ 'Parent: ': above.facts, 'Node: ': here.facts }),
    ...bars('before this try', withoutFirstResidual(here.tried), own),
    ...(here.race ? races('race for the next token', here.race) : races('the race here', above.race, own)),
    ...(here.after ? bars('distribution of the target’s next token', here.after) : here.tried ? [] : bars('distribution of the target’s own token', above.after, own)),
  ];
}

/** Before the first try at a node the residual is p itself, so p alone is shown. @param {Chart | undefined} chart */
export function withoutFirstResidual(chart) {
  const { p, residual, ...rows } = chart?.rows ?? {};
  return chart && p && residual && residual.every((value, i) => value === p[i]) ? { ...chart, rows: { p, ...rows } } : chart;
}

/** @param {Record<string, Record<string, number> | undefined>} places */
function numbers(places) {
  const line = make('p');
  for (const [where, facts = {}] of Object.entries(places)) {
    const known = Object.entries(facts);
    if (known.length) line.append(where, known.map(([name, value]) => `${FACTS[name] || name} ${probability(value)}`).join(', '), ' ');
  }
  return line.childNodes.length ? [line] : [];
}

/** @param {string} caption @param {Chart | undefined} whole @param {number | null} [own] the token in question */
function bars(caption, whole, own) {
  if (!whole) return [];
  const chart = weighed(whole, own), rank = (/** @type {string} */ name) => (ORDER.indexOf(name) + ORDER.length + 1) % (ORDER.length + 1);
  const names = Object.keys(chart.rows).sort((a, b) => rank(a) - rank(b));
  return [barTable({ caption, series: names.map(name => ({ name: ROWS[name] || name, kind: name })), rows: rowsOf(chart, names, own) })];
}

/** @param {string} caption @param {Record<string, Chart> | undefined} columns @param {number | null} [own] */
function races(caption, columns = {}, own) {
  const times = Object.values(columns).flatMap(chart => Object.values(chart.rows)[0]).filter(time => time > 0);
  const low = Math.log(Math.min(...times)), span = Math.log(Math.max(...times)) - low || 1;
  return Object.entries(columns).map(([name, chart]) => barTable({
    caption: `${caption}, ${name}: ${RACE}`, series: [{ name: 'arrives', kind: name === 'target' ? 'run' : 'q', mark: true }],
    rows: rowsOf(chart, Object.keys(chart.rows).slice(0, 1), own), write: value => value.toPrecision(3), place: value => (Math.log(value) - low) / span,
  }));
}

/** @param {Chart} chart @param {string[]} names @param {number | null} [own] */
function rowsOf(chart, names, own) {
  return chart.tokens.map((token, at) => ({ name: visible(chart.texts[at]), kind: token === own ? 'own' : '', values: names.map(name => chart.rows[name][at]) }));
}
