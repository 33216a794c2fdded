// What a rule recorded about a node as tables: distributions over a few tokens as bars, races as
// arrival times. Nothing here knows a rule.

import { barTable, logPlace } from '../base/bars.js';
import { visible } from '../base/text.js';
import { ROWS } from '../base/words.js';

const RACE = 'arrival times (log scale), the smallest wins';

/**
 * The tables on a node, or on the token that the target adds.
 * @param {Step} step
 * @param {number | null} node null for that token
 * @returns {HTMLElement[]}
 */
export function detailOf(step, node) {
  if (node === null) {
    const here = step.detail[step.path.at(-1) ?? 0] ?? {};
    return [
      ...bars('distribution of this token', here.after, step.own),
      ...races('race of this token', here.race, step.own),
    ];
  }
  const here = step.detail[node] ?? {};
  const above = step.detail[step.parents[node]] ?? {};
  const own = step.tokens[node];
  const parts = bars('before this try', here.tried, own);
  if (here.race) parts.push(...races('race for the next token', here.race));
  else parts.push(...races('the race here', above.race, own));
  if (here.after) parts.push(...bars('distribution of the target’s next token', here.after));
  else if (!here.tried)
    parts.push(...bars('distribution of the target’s own token', above.after, own));
  return parts;
}

/**
 * @param {string} caption
 * @param {Chart | undefined} chart
 * @param {number | null} [own] the token in question
 */
function bars(caption, chart, own) {
  if (!chart) return [];
  const series = Object.keys(chart.rows).map(name => ({ name: ROWS[name] || name, kind: name }));
  // a target that is sure of one token has no second
  const rows = rowsOf(chart, own).filter(({ kind, values }) => {
    return kind || values.some(value => value >= 1e-4);
  });
  return [barTable({ caption, series, rows })];
}

/**
 * @param {string} caption
 * @param {Record<string, Chart> | undefined} columns
 * @param {number | null} [own]
 */
function races(caption, columns = {}, own) {
  const times = Object.values(columns).flatMap(({ rows }) => rows.times);
  return Object.entries(columns).map(([name, chart]) =>
    barTable({
      caption: `${caption}, ${name}: ${RACE}`,
      series: [{ name: 'arrives', kind: name === 'target' ? 'run' : 'q', mark: true }],
      rows: rowsOf(chart, own),
      write: value => value.toPrecision(3),
      place: logPlace(times),
    }),
  );
}

/** @param {Chart} chart @param {number | null} [own] */
function rowsOf({ tokens, texts, rows }, own) {
  return tokens.map((token, at) => ({
    name: visible(texts[at]),
    kind: token === own ? 'own' : '',
    values: Object.values(rows).map(row => row[at]),
  }));
}
