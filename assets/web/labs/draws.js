// The draws of a step as the Verification lab shows them, try by try: those of the lab's own runs,
// and those that a run on the page recorded.

import { pathOf } from '../base/ribbon.js';
import { OUTCOMES } from '../base/words.js';

/**
 * @param {Sent} step
 * @param {(number | null)[]} tokens those that the lab names, in its order; the last stands for all
 *   others where it is null
 * @param {number | null} [parent] the node whose children are listed; all nodes where it is null
 * @returns {import('./types.js').Run}
 */
export function runOf(step, tokens, parent = null) {
  /** @param {number} node */
  const isListed = node =>
    node > 0 && (parent === null || step.parents[node] === parent);
  /** @param {number} token */
  const place = token => {
    const at = tokens.indexOf(token);
    return at < 0 ? tokens.length - 1 : at;
  };
  /**
   * The rows of a chart in the order of the lab's tokens.
   * @param {Chart | undefined} chart
   * @returns {import('./types.js').Rows}
   */
  function rows(chart) {
    if (!chart) return {};
    const at = tokens.map(token => (token === null ? -1 : chart.tokens.indexOf(token)));
    return Object.fromEntries(
      Object.entries(chart.rows).map(([name, row]) => [name, at.map(i => row[i] ?? null)]),
    );
  }
  const nodes = step.parents.map((_, node) => node).filter(isListed);
  const compared = step.order.filter(isListed);

  /** What a rejection leaves: the rows of the next try, or of the token that follows. */
  const after = (/** @type {number} */ node, /** @type {number | undefined} */ next) => {
    const above = step.parents[node];
    const follows = next !== undefined && step.parents[next] === above;
    const left = rows(follows ? step.detail[next]?.tried : step.detail[above]?.after);
    delete left.p;
    return left;
  };
  const tries = compared.map((node, i) => ({
    node: nodes.indexOf(node) + 1,
    token: place(step.tokens[node]),
    outcome: OUTCOMES[step.outcome[node]],
    accept_prob: step.accept[node],
    coin: step.coin[node],
    before: rows(step.detail[node]?.tried),
    after: step.outcome[node] === 'rejected' ? after(node, compared[i + 1]) : {},
    times: rows(step.detail[step.parents[node]]?.race?.target).times,
    why: step.sentences[step.why[node]] ?? '',
  }));

  // A rule that tests below a failed test decides about all tokens when it has tried all.
  const failed = compared.filter(node => Number(step.coin[node]) >= Number(step.accept[node]));
  const path = pathOf(step);
  const accepted = path.filter(isListed);
  const end = path.at(-1) ?? 0;
  // below an accepted child the run goes on
  const isEnd = step.own !== null && (parent === null || (parent === end && !accepted.length));
  const emitted = accepted.map(node => place(step.tokens[node]));
  const { after: chart, race } = step.detail[end] ?? {};
  return {
    drafted: nodes.map(node => place(step.tokens[node])),
    tries,
    isBlock: compared.some(node => failed.includes(step.parents[node])),
    emitted: isEnd ? [...emitted, place(/** @type {number} */ (step.own))] : emitted,
    goesOn: !isEnd,
    corrected: step.last === 'correction',
    last: isEnd && !Object.keys(race ?? {}).length ? (rows(chart).residual ?? null) : null,
  };
}
