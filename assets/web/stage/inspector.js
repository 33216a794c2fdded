// The fold under the tree: what a node is, why it has its outcome, and its numbers. With no node, the step in a sentence.

import { barTable } from '../base/bars.js';
import { button, finder } from '../base/dom.js';
import { visible } from '../base/text.js';
import { DRAWN, OUTCOMES, OWN } from '../base/words.js';
import { detailOf } from './detail.js';
import { stepSentence } from './frames.js';

/** @typedef {import('../base/types.js').Step} Step */
/** @typedef {(step: Step, key: string, index: number) => (() => void) | null} Take what opens a node in the lab */

/**
 * What is known of something in a step; `node` where it is about one, with its numbers.
 * @typedef {{ token: string, why: string, facts: string, kind?: string | null, node?: number }} About
 */

/** @param {Step} step @param {number} index @param {string | null} key a node, "last", a fold, or the whole step @returns {About} */
export function aboutOf(step, index, key) {
  if (key === null) return { token: `step ${index + 1}`, why: stepSentence(step), facts: 'Hover over or click a node, or use the arrow keys.' };
  if (key === 'last') {
    return { kind: step.last, token: visible(step.pieces[step.pieces.length - 1]), why: OWN[step.last || ''] || '', facts: 'It follows the last accepted node and is the root of the next tree.' };
  }
  if (key.endsWith('+')) {
    return { kind: 'u', token: '…', why: `More children of “${visible(step.texts[parseInt(key, 10)])}” that were not visited, collapsed.`, facts: 'Click or press Enter to expand them.' };
  }
  const node = Number(key), about = { node, kind: step.outcome[node], token: visible(step.texts[node]), why: step.sentences[step.why[node]] };
  const law = `children are ${DRAWN[step.scheme] || step.scheme}`;
  if (!node) return { ...about, facts: `tree of ${step.parents.length} nodes from ${step.draft_passes} draft passes; ${law}` };
  let depth = 0;
  for (let i = node; i > 0; i = step.parents[i]) depth++;
  const siblings = step.parents.flatMap((parent, i) => (parent === step.parents[node] && step.outcome[i] !== 'o' ? [i] : []));
  return { ...about, facts: about.kind === 'o' ? `depth ${depth}` : `depth ${depth}; child ${siblings.indexOf(node) + 1} of ${siblings.length}; ${law}` };
}

/** The probabilities of a node, and the draw or the threshold that decided it. @param {Step} step @param {number} node */
function numbersOf(step, node) {
  const threshold = node ? step.detail[step.parents[node]]?.facts?.threshold ?? null : null, coin = step.coin[node];
  const series = [{ name: 'probability', kind: 'p' }, ...(coin === null && threshold === null ? [] : [{ name: coin === null ? 'threshold' : 'draw u', kind: 'exact', mark: true }])];
  const rows = [
    { name: 'target p', values: [step.p[node], coin === null ? threshold : null] }, { name: 'draft q', values: [step.q[node], null] },
    { name: 'target p before temperature', values: [step.plain[node], null] }, { name: 'acceptance', values: [step.accept[node], coin] },
  ].filter(({ values }) => values[0] !== null && values[0] !== undefined);
  return rows.length ? [barTable({ series, rows: rows.map(row => ({ ...row, values: row.values.slice(0, series.length) })), place: value => value })] : [];
}

/** @param {HTMLElement} element @param {Take} [take] */
export function inspectorView(element, take) {
  const $ = finder(element), lab = button('Open in the Verification lab', null, 'sv-lab-button');
  let shown = /** @type {{ step: Step | null, key: string | null }} */ ({ step: null, key: null });
  $('facts').after(lab);
  lab.hidden = true;

  /** @param {Step | undefined} step @param {number} index @param {string | null} key */
  function show(step, index, key) {
    if (!step || (step === shown.step && key === shown.key)) return; // what is read or selected here stays
    shown = { step, key };
    const about = aboutOf(step, index, key), node = about.node;
    $('why-fold').dataset.kind = about.kind || '';
    $('token').textContent = about.token;
    $('outcome').textContent = OUTCOMES[about.kind || ''] || '';
    $('why').textContent = about.why;
    $('facts').textContent = about.facts;
    $('detail').replaceChildren(...(node === undefined ? [] : numbersOf(step, node)), ...detailOf(step, key === 'last' ? 'last' : node));
    const open = take && key !== null && take(step, key, index);
    lab.hidden = !open;
    lab.onclick = open || null;
  }

  return { show, spoken: () => `${$('token').textContent}: ${$('outcome').textContent}. ${$('why').textContent}` };
}
