// What is known of a node: the fold under the tree with every number, and a card at the node itself
// with the few that decided it.

import { make, query } from '../base/dom.js';
import { short, visible } from '../base/text.js';
import { OUTCOMES, OWN } from '../base/words.js';
import { nodeOfKey } from '../tree/layout.js';
import { placeCard } from './card_place.js';
import { detailOf } from './detail.js';
import { comparedTexts, comparedWith } from './sentences.js';

/**
 * @typedef {(step: Step, key: string, rule?: string) => (() => void) | null} Take what opens a node
 *   in the lab, by the rule of its run
 */
/** @typedef {import('./panel.js').Find} Find */

/** @typedef {import('./card_place.js').Box} Box */


/** The token of a node, or the target's own. @param {Step} step @param {number | null} node */
const tokenOf = (step, node) =>
  visible(node === null ? step.pieces[step.pieces.length - 1] : step.texts[node]);

/** Its outcome, or what the target's own is. @param {Step} step @param {number | null} node */
const outcomeOf = (step, node) => (node === null ? step.last : step.outcome[node]) ?? '';

/** @param {Find} $ @param {Take} [take] */
export function inspectorView($, take) {
  const fold = $('why-fold');
  const token = query(fold, '.sv-token'); // the card at a node has one, too
  const lab = $('lab-button');
  /** @type {{ step?: Step, key?: string | null }} */
  let about = {};

  /** @param {Step} step @param {string | null} key @param {string} [rule] */
  function show(step, key, rule) {
    // what is read or selected here stays
    if (step === about.step && key === about.key) return;
    about = { step, key };
    if (key === null) return clear();
    const node = nodeOfKey(key);
    token.textContent = tokenOf(step, node);
    $('why').textContent = node === null ? OWN[step.last ?? ''] : step.sentences[step.why[node]];
    $('detail').replaceChildren(listOf(step, node), ...detailOf(step, node));
    const open = take?.(step, key, rule) ?? null;
    lab.hidden = !open;
    lab.onclick = open;
  }

  function clear() {
    lab.hidden = true;
    token.textContent = '';
    $('why').textContent = 'Choose a node of the tree.';
    $('detail').replaceChildren();
  }
  clear();

  return {
    show,
    /** Opens the fold and brings it into view. */
    open() {
      fold.open = true;
      fold.scrollIntoView({ block: 'nearest', behavior: 'smooth' });
    },
  };
}

/**
 * The card at a node: what it is and what decided it.
 * @param {Find} $
 * @param {() => void} openNumbers
 */
export function nodeCard($, openNumbers) {
  const card = $('node-card');
  let nodeKey = '';
  /** @type {Set<string>} */
  let mustSee = new Set(); // keys of marks that it must not cover
  query(card, 'button').onclick = openNumbers;

  /**
   * @param {Step} step
   * @param {string | null} key
   * @param {boolean} isPicked it stays, so that its button can be reached
   */
  function show(step, key, isPicked) {
    card.hidden = true;
    if (key === null) return;
    const node = nodeOfKey(key);
    card.hidden = false;
    const outcome = query(card, 'b');
    outcome.className = outcomeOf(step, node);
    outcome.textContent = OUTCOMES[outcome.className];
    query(card, '.sv-token').textContent = tokenOf(step, node);
    query(card, 'dl').replaceWith(listOf(step, node));
    card.classList.toggle('picked', isPicked);
    nodeKey = key;
    mustSee = new Set(['0', ...step.path, 'last'].map(String));
    place(key);
  }

  /** Where it covers nothing of the path. @param {string} key */
  function place(key) {
    const canvas = $('canvas').getBoundingClientRect();
    const node = $('svg').querySelector(`.node[data-key="${key}"]`)?.getBoundingClientRect();
    if (!node) return;
    /** @type {Box[]} */
    const path = [];
    /** @type {Box[]} */
    const others = [];
    for (const part of $('svg').querySelectorAll('[data-key]')) {
      const box = part.getBoundingClientRect();
      (mustSee.has(part.dataset.key) ? path : others).push(box);
    }
    const { left: start, right: end, top: high, bottom: low } = $('scroll').getBoundingClientRect();
    const room = {
      left: start,
      right: end,
      top: Math.max(0, high),
      bottom: Math.min(innerHeight, low),
    };
    const size = card.getBoundingClientRect();
    const { left, top } = placeCard(size, node, path, others, room);
    Object.assign(card.style, { left: `${left - canvas.left}px`, top: `${top - canvas.top}px` });
  }

  $('scroll').onscroll = () => {
    card.hidden = true;
  };
  // A longer sentence makes the box lower; the tree in it is drawn again before the next frame.
  const follow = () => card.hidden || place(nodeKey);
  new ResizeObserver(() => requestAnimationFrame(follow)).observe($('scroll'));
  return { show };
}

/**
 * What is known of a node, names and values; nothing of the target's own token.
 * @param {Step} step
 * @param {number | null} node
 */
export function listOf(step, node) {
  if (node === null) return make('dl');
  const { p, q, isLeft, withoutTried } = comparedWith(step, node);
  const accept = step.accept[node];
  const coin = step.coin[node];
  const [draw, chance] = comparedTexts(coin ?? NaN, accept ?? NaN);
  const target = isLeft ? 'residual' : 'probability p';
  const own = withoutTried ? ' without what was tried' : '’s probability q';
  const lines = /** @type {[string, number | null, string][]} */ ([
    [`the target’s ${target}`, p, short(p ?? NaN)],
    [`the draft${own}`, q, short(q ?? NaN)],
    ['kept with probability', accept, chance],
    ['the draw u, from 0 to 1', accept ? coin : null, draw], // nothing is drawn for 0
  ]);
  const known = lines.filter(([, value]) => value !== null);
  return make('dl', known.flatMap(([name, , text]) => [make('dt', name), make('dd', text)]));
}
