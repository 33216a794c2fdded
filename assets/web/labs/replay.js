// What the rule of a run did at one node, from the run's record: nothing is drawn again.

/** @type {Record<string, string>} */
const COMPARED = { a: 'accepted', x: 'rejected', p: 'passed' };

/** @typedef {import('../base/types.js').Chart} Chart */
/** @typedef {import('../base/types.js').Step} Step */
/** @typedef {import('./types.js').Rows} Rows */

/**
 * The tries at a node as the Verification lab shows them, and the names of all tokens that they are about.
 * @param {Step} step
 * @param {number} parent the node
 * @param {number[]} children of it, in their order
 * @param {number[]} ids of the tokens whose p and q are known
 * @param {string[]} names of these; then perhaps one for all others
 * @returns {{ told: import('./types.js').Told | null, tokens: string[] }} nothing is told where the rule compared no child
 */
export function replayOf(step, parent, children, ids, names) {
  const above = step.detail[parent] || {}, corrects = parent === (step.path.at(-1) ?? 0) && step.last === 'correction';
  const place = new Map(ids.map((id, i) => [id, i])), tokens = [...names], rest = names.length > ids.length;
  /** @param {number} id @param {string} text */
  function add(id, text) {
    if (!place.has(id)) place.set(id, tokens.push(text) - 1);
  }
  const race = corrects || !children.some(child => step.outcome[child] !== 'u') ? above.race || {} : {};
  for (const chart of [above.after, ...Object.values(race)]) chart?.tokens.forEach((id, i) => add(id, chart.texts[i]));
  children.forEach(child => add(step.tokens[child], step.texts[child]));
  if (corrects && step.own !== null) add(step.own, step.pieces[step.pieces.length - 1]);

  /** The rows of a chart in the order of the names. @param {Chart | undefined} chart @returns {Rows} */
  const ordered = chart => Object.fromEntries(Object.entries(chart?.rows ?? {}).map(([name, row]) => {
    /** @type {(number | null)[]} */
    const line = tokens.map(() => null);
    chart?.tokens.forEach((id, i) => { const at = place.get(id); if (at !== undefined) line[at] = row[i]; });
    const whole = rest && ids.every((_, i) => line[i] !== null);
    if (whole) line[ids.length] = Math.max(0, 1 - ids.reduce((sum, _, i) => sum + Number(line[i]), 0));
    return [name, line];
  }));
  const compared = children.filter(child => step.outcome[child] in COMPARED);
  if (!compared.length) return { told: null, tokens: names };
  const tries = compared.map((child, i) => {
    const following = compared[i + 1], rejected = step.outcome[child] === 'x';
    const after = rejected ? ordered(following === undefined ? above.after : step.detail[following]?.tried) : {};
    delete after.p;
    return {
      node: children.indexOf(child) + 1, token: place.get(step.tokens[child]) ?? 0, outcome: COMPARED[step.outcome[child]],
      accept_prob: step.accept[child], coin: step.coin[child], before: ordered(step.detail[child]?.tried),
      after, facts: step.detail[child]?.facts ?? {}, why: step.sentences[step.why[child]],
    };
  });
  const accepted = children.find(child => step.outcome[child] === 'a');
  const written = accepted !== undefined ? step.tokens[accepted] : corrects ? step.own : null;
  const told = {
    drafted: children.map(child => place.get(step.tokens[child]) ?? 0), tries,
    emitted: written === null ? [] : [place.get(written) ?? 0], corrected: corrects, goesOn: accepted !== undefined || written === null,
    last: ordered(above.after).residual ?? null, facts: above.facts ?? {},
    races: Object.fromEntries(Object.entries(race).map(([name, chart]) => [name, ordered(chart).times ?? []])),
  };
  return { told, tokens };
}
