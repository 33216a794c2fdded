// An entry as a card that unfolds: what the source says, its claims as numbers beside what was measured here, and the figures.

import { button, make } from '../base/dom.js';
import { lineChart } from '../figures/chart.js';
import { dataTable, short } from '../figures/table.js';

/** @type {Record<import('./types.js').State, string>} */
export const MARKS = { reproduced: '✓', 'holds by proof': '∎', undecided: '?', differs: '≠', 'not available here': '–' };
const STATES = /** @type {import('./types.js').State[]} */ (Object.keys(MARKS));

/**
 * How many claims have each verdict, as marks with numbers.
 * @param {import('./types.js').Counts} counts
 */
export function verdictCounts(counts) {
  const box = make('span', '', 'sv-verdict-counts');
  box.append(...STATES.filter(state => counts[state]).map(state => {
    const part = make('span', `${MARKS[state]} ${counts[state]}`, 'sv-verdict');
    part.dataset.state = state;
    part.title = `${counts[state]} ${state}`;
    part.setAttribute('role', 'img');
    part.setAttribute('aria-label', part.title);
    return part;
  }));
  return box;
}

/**
 * The verdicts of claims, counted.
 * @param {import('./types.js').Claim[]} claims
 */
const counted = claims => /** @type {import('./types.js').Counts} */ (
  Object.fromEntries(STATES.map(state => [state, claims.filter(claim => claim.verdict === state).length])));

/**
 * An entry as a card: folded it is one line.
 * @param {import('./types.js').Entry} entry
 * @param {string} source the name of its source
 * @param {import('./types.js').Running | null} running what is being measured
 * @param {() => void} start measures it again
 */
export function entryCard(entry, source, running, start) {
  const box = make('details', '', 'sv-entry');
  box.dataset.name = entry.name;
  box.dataset.state = entry.state;
  const head = make('summary'), title = make('h3');
  title.append(make('b', entry.place), ' ', make('span', entry.title, 'sv-entry-title'));
  head.append(title, verdictCounts(counted(entry.claims)));
  const says = make('section', '', 'sv-entry-says');
  says.append(make('h4', 'The source says'), make('p', entry.says));
  if (entry.quoted) says.append(dataTable(entry.quoted.columns, entry.quoted.rows, `${entry.place}, as printed`));
  const here = make('section', '', 'sv-entry-here');
  here.append(...entry.blocks.map(block => block.kind === 'lines' ? lineChart(block) : dataTable(block.columns, block.rows, `${entry.place}, measured here`)));
  box.append(head, says, claimTable(entry), here);
  if (entry.made) box.append(make('p', entry.made, 'sv-entry-made'));
  const links = make('p', '', 'sv-entry-links');
  entry.opens.forEach(other => links.append(Object.assign(make('a', other.label), { href: `?${other.query}` })));
  links.append(Object.assign(make('a', 'Link'), { href: `?tab=papers&paper=${source}&entry=${entry.name}`, title: 'the address of this entry' }));
  if (entry.measurable) {
    const again = button('Measure again', start);
    again.disabled = running !== null;
    const line = make('span', running && running.source === source && running.name === entry.name ? running.text : '', 'sv-entry-status');
    line.setAttribute('role', 'status');
    links.append(again, line);
  }
  box.append(links);
  return box;
}

/** @param {import('./types.js').Entry} entry */
function claimTable(entry) {
  const rows = entry.claims.map(claim => {
    const says = make('span', claim.says), verdict = make('span', '', 'sv-verdict');
    if (claim.place) says.append(make('small', claim.place));
    const mark = make('span', MARKS[claim.verdict], 'sv-verdict-mark');
    mark.setAttribute('aria-hidden', 'true');
    verdict.dataset.state = claim.verdict;
    verdict.append(mark, claim.verdict);
    if (claim.sentence) verdict.append(make('small', claim.sentence));
    return [says, claimed(claim), found(claim), verdict];
  });
  const frame = dataTable(['Claim', 'Claimed', 'Found here', 'Verdict'], rows, `${entry.place}, claims`);
  frame.classList.add('sv-claims');
  return frame;
}

/** @param {import('./types.js').Claim} claim */
function claimed({ relation, bound, proof }) {
  if (proof && typeof bound === 'number') return `error ${relation === '<' ? 'below' : 'above'} ${short(bound)}`;
  return Array.isArray(bound) ? `${short(bound[0])} to ${short(bound[1])}` : `${relation} ${short(bound)}`;
}

/** @param {import('./types.js').Claim} claim */
function found({ estimate, low, high, seeds, texts, proof }) {
  const box = make('span', estimate === null ? '–' : `${proof ? 'error ' : ''}${rounded(estimate)}`);
  if (texts !== null && low !== null && high !== null) {
    box.append(make('small', `${rounded(low)} to ${rounded(high)}, ${texts} texts of ${seeds} seeds`));
  }
  return box;
}

/** @param {number} value */
const rounded = value => short(Number(value.toPrecision(3)));
