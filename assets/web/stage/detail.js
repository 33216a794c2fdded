// What a rule recorded about a node as tables: distributions over a few tokens as bars, races as
// arrival times. Nothing here knows a rule.

import { barTable, logPlace } from '../base/bars.js';
import { visible } from '../base/text.js';
import { ROWS } from '../base/words.js';

const RACE = 'arrival times in the race (log scale), the smallest wins';

/**
 * The tables on a node, or on the token that the target adds.
 * @param {Step} step
 * @param {number | null} node null for that token
 * @returns {HTMLElement[]}
 */
export function detailOf(step, node) {
  const at = node ?? step.path.at(-1) ?? 0;
  const own = node === null ? step.own : step.tokens[node];
  const here = step.detail[at] ?? {};
  const above = step.detail[step.parents[at]] ?? {};
  // A drafted token ran in the race after its parent, the target's own in the one after the path.
  return [
    ...bars('before this try', node === null ? undefined : here.tried, own),
    ...races((node ? above : here).race, own),
    ...bars('distribution of the target’s next token', here.after ?? above.after, own),
  ];
}

/**
 * @param {string} caption
 * @param {Chart | undefined} chart
 * @param {number | null} own the token in question
 */
function bars(caption, chart, own) {
  if (!chart) return [];
  const series = Object.keys(chart.rows).map(name => ({ name: ROWS[name] || name, kind: name }));
  return [barTable({ caption, series, rows: rowsOf(chart, own) })];
}

/**
 * @param {Record<string, Chart> | undefined} columns
 * @param {number | null} own
 */
function races(columns = {}, own) {
  const times = Object.values(columns).flatMap(({ rows }) => rows.times);
  return Object.entries(columns).map(([name, chart]) =>
    barTable({
      caption: `${name}: ${RACE}`,
      series: [{ name: 'arrives', kind: name === 'target' ? 'run' : 'q', mark: true }],
      rows: rowsOf(chart, own),
      write: value => value.toPrecision(3),
      place: logPlace(times),
    }),
  );
}

/** @param {Chart} chart @param {number | null} own */
function rowsOf({ tokens, texts, rows }, own) {
  return tokens.map((token, at) => ({
    name: visible(texts[at]),
    kind: token === own ? 'own' : '',
    values: Object.values(rows).map(row => row[at]),
  }));
}
