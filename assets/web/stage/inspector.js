// What is known of a node: the fold under the tree with every number, and a card at the node itself
// with the few that decided it.

import { button, finder, make, query } from '../base/dom.js';
import { visible } from '../base/text.js';
import { DRAWN, OUTCOMES } from '../base/words.js';
import { placeCard } from './card_place.js';
import { detailOf, numbersOf } from './detail.js';
import { comparedTexts, conclusionOf, leftOf, short, siblingsOf } from './sentences.js';

/**
 * @typedef {(step: Step, key: string, index: number) => (() => void) | null} Take what opens a
 *   node in the lab
 */

/** @typedef {import('./card_place.js').Box} Box */

const CHILD = 10; // how many other marks the card covers rather than a child of its node

/** @param {Step} step @param {string} key */
const tokenOf = (step, key) =>
  visible(key === 'last' ? step.pieces[step.pieces.length - 1] : step.texts[parseInt(key, 10)]);

/**
 * The outcome of a node, or what the target's own token is.
 * @param {Step} step
 * @param {string} key
 */
const outcomeOf = (step, key) =>
  (key === 'last' ? step.last : step.outcome[parseInt(key, 10)]) ?? '';

/** Where a node stands in the tree. @param {Step} step @param {string} key */
export function factsOf(step, key) {
  if (key === 'last') return 'It follows the last accepted node and is the root of the next tree.';
  const node = parseInt(key, 10);
  const law = `children are ${DRAWN[step.scheme] || step.scheme}`;
  if (!node) {
    return `tree of ${step.parents.length} nodes from ${step.draft_passes} draft passes; ${law}`;
  }
  let depth = 0;
  for (let above = node; above > 0; above = step.parents[above]) depth++;
  if (step.outcome[node] === 'probe') return `depth ${depth}`;
  const siblings = siblingsOf(step, node);
  return `depth ${depth}; child ${siblings.indexOf(node) + 1} of ${siblings.length}; ${law}`;
}

/** @param {HTMLElement} element @param {Take} [openLab] */
export function inspectorView(element, openLab) {
  const $ = finder(element);
  const fold = $('why-fold', HTMLDetailsElement);
  const token = query(fold, '.sv-token'); // the card at a node has one, too
  const lab = button('Open in the Verification lab', null, 'sv-lab-button');
  let shown = /** @type {{ step: Step | null, key: string | null }} */ ({ step: null, key: null });
  $('facts').after(lab);

  /** @param {Step} step @param {number} index @param {string | null} key */
  function show(step, index, key) {
    // what is read or selected here stays
    if (step === shown.step && key === shown.key) return;
    shown = { step, key };
    if (key === null || key.endsWith('+')) return clear();
    const node = key === 'last' ? key : Number(key);
    token.textContent = tokenOf(step, key);
    $('why').textContent = step.sentences[step.why[Number(key)]] ?? '';
    $('facts').textContent = factsOf(step, key);
    const numbers = node === 'last' ? [] : numbersOf(step, node);
    $('detail').replaceChildren(...numbers, ...detailOf(step, node));
    const open = openLab?.(step, key, index) ?? null;
    lab.hidden = !open;
    lab.onclick = open;
  }

  function clear() {
    lab.hidden = true;
    token.textContent = '';
    $('why').textContent = '';
    $('facts').textContent = 'Choose a node of the tree.';
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
 * @param {HTMLElement} element
 * @param {() => void} openNumbers
 */
export function nodeCard(element, openNumbers) {
  const $ = finder(element);
  const title = make('p');
  const list = make('dl');
  const conclusion = make('p');
  const card = make('div', '', 'sv-node-card');
  card.append(title, list, conclusion, button('In numbers', openNumbers, 'sv-plain'));
  let nodeKey = '';
  let mustSee = /** @type {Set<string>} */ (new Set()); // keys of marks that it must not cover
  let children = /** @type {string[]} */ ([]); // and of its own children
  card.hidden = true;
  $('canvas').append(card);

  /**
   * @param {Step} step
   * @param {string | null} key
   * @param {boolean} isPicked it stays, so that its button can be reached
   */
  function show(step, key, isPicked) {
    card.hidden = true;
    if (key === null || key.endsWith('+')) return;
    card.hidden = false;
    const kind = outcomeOf(step, key);
    const outcome = make('b', OUTCOMES[kind]);
    card.dataset.kind = kind;
    card.classList.toggle('picked', isPicked);
    title.replaceChildren(make('span', tokenOf(step, key), 'sv-token'), ' ', outcome);
    list.replaceChildren(
      ...linesOf(step, Number(key)).flatMap(([name, value]) => [
        term(name),
        make('dd', value),
      ]),
    );
    conclusion.textContent = conclusionOf(step, Number(key));
    nodeKey = key;
    mustSee = new Set(['0', ...step.path, 'last'].map(String));
    children = step.parents.map((parent, node) => (parent === Number(key) ? String(node) : ''));
    place(key);
  }

  /** Where it covers nothing of the path and, if it can, no child. @param {string} key */
  function place(key) {
    const canvas = $('canvas').getBoundingClientRect();
    const node = $('svg').querySelector(`.node[data-key="${key}"]`)?.getBoundingClientRect();
    if (!node) return;
    const path = /** @type {Box[]} */ ([]);
    const others = /** @type {{ box: Box, weight: number }[]} */ ([]);
    for (const part of $('svg').querySelectorAll('[data-key]')) {
      const box = part.getBoundingClientRect();
      const weight = children.includes(part.dataset.key) ? CHILD : 1;
      if (mustSee.has(part.dataset.key)) path.push(box);
      else others.push({ box, weight });
    }
    const { left: start, right: end, top: high, bottom: low } = $('scroll').getBoundingClientRect();
    const room = {
      left: start,
      right: end,
      top: Math.max(0, high),
      bottom: Math.min(innerHeight, low),
    };
    /** @param {boolean} isLow all numbers in one line, where a room is too low for one a line */
    const placed = isLow => {
      card.classList.toggle('low', isLow);
      const size = { width: card.offsetWidth, height: card.offsetHeight };
      return placeCard(size, node, path, others, room);
    };
    let { left, top, excess } = placed(false);
    if (excess) ({ left, top } = placed(true));
    Object.assign(card.style, { left: `${left - canvas.left}px`, top: `${top - canvas.top}px` });
  }

  $('scroll').addEventListener('scroll', () => {
    card.hidden = true;
  });
  // A longer sentence makes the box lower; the tree in it is drawn again before the next frame.
  const follow = () => card.hidden || place(nodeKey);
  new ResizeObserver(() => requestAnimationFrame(follow)).observe($('scroll'));
  return { show };
}

/**
 * A name, of which a low card has the part that is marked.
 * @param {string[]} parts the second is marked
 */
function term([before, name, after]) {
  const line = make('dt', before);
  line.append(make('b', name), after);
  return line;
}

/**
 * What is known of a node, names in three parts and values.
 * @param {Step} step
 * @param {number} node
 * @returns {[string[], string][]}
 */
export function linesOf(step, node) {
  const lines = /** @type {[string[], string][]} */ ([]);
  const p = step.p[node];
  const q = step.q[node];
  const accept = step.accept[node];
  const coin = step.coin[node];
  // A later child is compared with what is left, not with p and q.
  const left = siblingsOf(step, node)[0] === node ? null : leftOf(step, node);
  if (left) {
    lines.push([['the target’s ', 'residual', ''], short(left.residual)]);
    const name = left.withoutTried ? 'draft without what was tried' : 'q';
    lines.push([['the ', name, ''], short(left.draft)]);
  } else {
    if (typeof p === 'number') lines.push([['the target’s probability ', 'p', ''], short(p)]);
    if (typeof q === 'number') lines.push([['the draft’s probability ', 'q', ''], short(q)]);
  }
  const isCompared = typeof accept === 'number' && typeof coin === 'number';
  const [draw, chance] = isCompared ? comparedTexts(coin, accept) : [];
  if (typeof accept === 'number')
    lines.push([['', 'kept with', ' probability'], chance ?? short(accept)]);
  if (typeof coin === 'number')
    lines.push([['the draw ', 'u', ', from 0 to 1'], draw ?? short(coin)]);
  return lines;
}
