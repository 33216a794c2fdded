// The panel under the tree: what a node is, why it has its outcome, and its numbers. With no node, the step in a sentence.

import { button, finder, query } from '../base/dom.js';
import { probability, readable, visible } from '../base/text.js';
import { DRAWN, OUTCOMES, OWN } from '../base/words.js';
import { detailView } from './detail.js';

/** @typedef {import('../base/types.js').Step} Step */
/** @typedef {(step: Step, key: string, index: number) => (() => void) | null} Take what opens a node in the lab */

/**
 * What the panel says; `node` where it is about one, with its numbers.
 * @typedef {{ token: string, why: string, facts: string, kind?: string | null, node?: number }} About
 */

const BARS = /** @type {const} */ (['p', 'q', 'plain', 'accept']);

/** One sentence on a step, also what a screen reader hears. @param {Step} step */
export function stepSentence(step) {
  const said = readable(step.path.map(node => step.texts[node]).join(''));
  const own = step.last ? readable(step.pieces[step.pieces.length - 1]) : '';
  const drafted = step.parents.length - 1 - step.outcome.split('o').length + 1;
  if (!drafted) return `Nothing was drafted${own && `; the target writes “${own}”`}.`;
  const head = `${step.path.length} of ${drafted} drafted nodes accepted`;
  const tail = !step.last ? '.' : step.last === 'bonus' ? `; the target adds “${own}”.` : `; the target writes “${own}” itself.`;
  return step.path.length ? `${head}: “${said}”${tail}` : `${head}${tail}`;
}

/** @param {HTMLElement} element @param {Take} [take] */
export function inspectorView(element, take) {
  const $ = finder(element), lab = button('Open in the lab', null, 'sv-take');
  lab.title = 'open this node’s p and q in the Verification lab';
  lab.hidden = true;
  if (take) $('what').append(lab);
  const detail = detailView($('detail'));
  let shown = /** @type {{ step: Step | null, key: string | null }} */ ({ step: null, key: null });

  /** @param {Step | undefined} step @param {number} index @param {string | null} key */
  function show(step, index, key) {
    if (!step || (step === shown.step && key === shown.key)) return; // what is read or selected here stays
    shown = { step, key };
    const about = key === null ? aboutStep(step, index) : key === 'last' ? aboutLast(step)
      : key.endsWith('+') ? aboutFold(key, step) : aboutNode(step, Number(key));
    $('inspector').dataset.kind = about.kind || '';
    $('bars').hidden = about.node === undefined;
    $('token').textContent = about.token;
    $('outcome').textContent = OUTCOMES[about.kind || ''] || '';
    $('why').textContent = about.why;
    $('facts').textContent = about.facts;
    for (const name of BARS) bar(name, about.node === undefined ? null : step[name][about.node]);
    const above = about.node ? step.detail[step.parents[about.node]] : undefined;
    mark('accept', about.node === undefined ? null : step.coin[about.node]);
    mark('p', above && above.facts ? above.facts.threshold : null);
    detail.show(step, key === 'last' ? 'last' : about.node);
    const open = take && key !== null && take(step, key, index);
    lab.hidden = !open;
    lab.onclick = open || null;
  }

  /** @param {Step} step @param {number} index @returns {About} */
  function aboutStep(step, index) {
    return {
      token: `step ${index + 1}`,
      why: stepSentence(step),
      facts: 'Hover over or click a node, or use the arrow keys.',
    };
  }

  /** @param {Step} step @returns {About} */
  function aboutLast(step) {
    return {
      kind: step.last,
      token: visible(step.pieces[step.pieces.length - 1]),
      why: OWN[step.last || ''] || '',
      facts: 'It follows the last accepted node and is the root of the next tree.',
    };
  }

  /** @param {string} key @param {Step} step @returns {About} */
  function aboutFold(key, step) {
    return {
      kind: 'u',
      token: '…',
      why: `More children of “${visible(step.texts[parseInt(key, 10)])}” that were not visited, collapsed.`,
      facts: 'Click or press Enter to expand them.',
    };
  }

  /** @param {Step} step @param {number} node @returns {About} */
  function aboutNode(step, node) {
    const about = { node, kind: step.outcome[node], token: visible(step.texts[node]), why: step.sentences[step.why[node]] };
    const law = `children are ${DRAWN[step.scheme] || step.scheme}`;
    if (!node) return { ...about, facts: `tree of ${step.parents.length} nodes from ${step.draft_passes} draft passes; ${law}` };
    let depth = 0, rank = 0, siblings = 0;
    for (let i = node; i > 0; i = step.parents[i]) depth++;
    step.parents.forEach((parent, i) => {
      if (parent !== step.parents[node] || step.outcome[i] === 'o') return;
      siblings++;
      if (i <= node) rank++;
    });
    return { ...about, facts: about.kind === 'o' ? `depth ${depth}` : `depth ${depth}; child ${rank} of ${siblings}; ${law}` };
  }

  /** @param {string} name @param {number | null | undefined} value */
  function bar(name, value) {
    const line = query(element, `[data-bar="${name}"]`), known = value !== null && value !== undefined;
    line.classList.toggle('empty', !known);
    line.querySelector('u').style.width = known ? `${100 * Math.min(1, value)}%` : 0;
    line.querySelector('b').textContent = known ? probability(value) : '–';
  }

  /**
   * A line across a bar: the coin on the acceptance, the threshold on p; and its number.
   * @param {string} name
   * @param {number | null | undefined} value
   */
  function mark(name, value) {
    const line = query(element, `[data-bar="${name}"]`), known = value !== null && value !== undefined;
    line.querySelector('em').hidden = !known;
    if (!known) return;
    line.querySelector('em').style.left = `${100 * value}%`;
    line.querySelector('b').textContent += ` / ${probability(value)}`;
  }

  return { show, spoken: () => `${$('token').textContent}: ${$('outcome').textContent}. ${$('why').textContent}` };
}
