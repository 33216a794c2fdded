// What is known of a node: a card at the node itself with the few numbers that decided it, and the
// fold under the tree with every number.

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

const PATH = '.root, .accepted, .bonus, .correction';

/** @param {Find} $ @param {Take} [take] */
export function inspectorView($, take) {
  const fold = $('why-fold');
  const card = $('node-card');
  const lab = $('lab-button');
  let about = /** @type {{ step: Step, key: string | null, tried: string | null }} */ ({});
  query(card, 'button').onclick = () => {
    fold.open = true;
    query(fold, 'summary').focus({ preventScroll: true });
    fold.scrollIntoView({ block: 'nearest', behavior: 'smooth' });
  };

  /**
   * @param {Step} step
   * @param {string | null} key what is pointed at or picked
   * @param {string | null} tried the node of the frame, which the fold is about where there is none
   * @param {boolean} isPicked the card stays, so that its button can be reached
   * @param {string} [rule]
   */
  function show(step, key, tried, isPicked, rule) {
    card.hidden = key === null;
    card.classList.toggle('picked', isPicked);
    // what is read or selected in the fold stays
    const isPlayed = step !== about.step || tried !== about.tried;
    if (isPlayed || (!card.hidden && key !== about.key)) {
      about = { step, key, tried };
      const node = key ?? tried;
      if (node === null) clear();
      else write(step, node, rule);
    }
    if (!card.hidden) place();
  }

  /** @param {Step} step @param {string} key @param {string} [rule] */
  function write(step, key, rule) {
    const node = nodeOfKey(key);
    const outcome = query(card, 'b');
    outcome.className = node === null ? step.last : step.outcome[node];
    outcome.textContent = OUTCOMES[outcome.className];
    const text = visible(node === null ? step.pieces[step.pieces.length - 1] : step.texts[node]);
    for (const box of [card, fold]) query(box, '.sv-token').textContent = text;
    query(card, 'dl').replaceWith(listOf(step, node));
    $('why').textContent = node === null ? OWN[step.last ?? ''] : step.sentences[step.why[node]];
    $('detail').replaceChildren(listOf(step, node), ...detailOf(step, node));
    lab.onclick = take?.(step, key, rule) ?? null;
    lab.hidden = !lab.onclick;
  }

  function clear() {
    lab.hidden = true;
    query(fold, '.sv-token').textContent = '';
    $('why').textContent = 'Choose a node of the tree.';
    $('detail').replaceChildren();
  }
  clear();

  /** Puts the card where it covers nothing of the path, nor what follows the node. */
  function place() {
    const { step, key } = about;
    const canvas = $('canvas').getBoundingClientRect();
    const node = $('svg').querySelector(`.node[data-key="${key}"]`)?.getBoundingClientRect();
    if (!node) return;
    /** @type {Box[]} */
    const path = [];
    /** @type {Box[]} */
    const others = [];
    for (const part of $('svg').querySelectorAll('[data-key]')) {
      const isChild = part.matches('.node') && step.parents[part.dataset.key] === Number(key);
      const mustSee = isChild || part.matches(PATH);
      (mustSee ? path : others).push(part.getBoundingClientRect());
    }
    const scroll = $('scroll').getBoundingClientRect();
    const room = {
      left: scroll.left,
      right: scroll.right,
      top: Math.max(0, scroll.top),
      bottom: Math.min(innerHeight, scroll.bottom),
    };
    const size = card.getBoundingClientRect();
    const { left, top } = placeCard(size, node, path, others, room);
    Object.assign(card.style, { left: `${left - canvas.left}px`, top: `${top - canvas.top}px` });
  }

  $('scroll').onscroll = () => {
    card.hidden = true;
  };
  // A longer sentence makes the box lower; the tree in it is drawn again before the next frame.
  const follow = () => card.hidden || place();
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
