// A step as frames: the draft's tree grows, one target pass scores it, the rule walks it token by
// token, the target adds a token. Every number is from the record; nothing here knows a builder or
// a rule.

import { probability, readable, visible } from '../base/text.js';

/**
 * @typedef {object} Frame
 * @property {1 | 2 | 3 | 4} phase
 * @property {number} nodes the last node that is there
 * @property {Set<number>} later nodes that are tried later
 * @property {number | null} at the node that the frame is about
 * @property {Map<number, string>} tags what is written beside nodes
 * @property {string} text a sentence
 */

const TURNS = ['first', 'second', 'third'];
const quoted = (/** @type {string} */ text) => `“${readable(text)}”`;
const short = (/** @type {number} */ value) =>
  value > 0 && value < 0.005 ? value.toExponential(0) : value.toFixed(2);
const plural = (/** @type {number} */ number, /** @type {string} */ word) =>
  `${number} ${word}${number === 1 ? '' : word.endsWith('s') ? 'es' : 's'}`;

/**
 * The nodes that the rule compared, in its order.
 * @param {Step} step
 * @param {boolean} [leavesFirst] whether it tests what is below a node before the node
 */
export function triesOf(step, leavesFirst = false) {
  const order = /** @type {number[]} */ ([]);
  /** @param {number} node */
  function below(node) {
    const children = step.parents.flatMap((parent, i) =>
      i > 0 && parent === node && 'axp'.includes(step.outcome[i]) ? [i] : [],
    );
    if (!leavesFirst) order.push(...children);
    for (const child of children) {
      below(child);
      if (leavesFirst) order.push(child);
    }
  }
  below(0);
  return order;
}

/**
 * @param {Step} step
 * @param {{ key?: string, leaves_first?: boolean }} [head] what the builder calls its numbers;
 *   how the rule goes through a tree
 * @returns {Frame[]}
 */
export function framesOf(step, { key = 'key', leaves_first: leavesFirst = false } = {}) {
  const n = step.parents.length,
    tries = triesOf(step, leavesFirst),
    none = new Map(),
    all = new Set(step.parents.keys());
  const drafted = n - 1 - step.outcome.split('o').length + 1;
  const frames = /** @type {Frame[]} */ ([]);
  for (let node = 1; node < n; node++) {
    const text =
      node < n - 1
        ? growthSentence(step, node, key)
        : `The draft proposes ${plural(drafted, 'token')} in ${plural(step.draft_passes, 'draft pass')}; with the last token that is a tree of ${plural(n, 'node')}.${rest(step)}`;
    frames.push({
      phase: 1,
      nodes: node,
      later: all,
      at: node < n - 1 ? node : null,
      tags: node < n - 1 ? growthTags(step, node) : none,
      text,
    });
  }
  frames.push({
    phase: 2,
    nodes: n,
    later: all,
    at: null,
    tags: none,
    text: `One target pass gives the target’s probabilities p after every one of the ${plural(n, 'node')}. Plain decoding needs such a pass for each token.`,
  });
  tries.forEach((node, i) =>
    frames.push({
      phase: 3,
      nodes: n,
      later: new Set(tries.slice(i + 1)),
      at: node,
      tags: drawTag(step, node),
      text: trySentence(step, node),
    }),
  );
  frames.push({
    phase: 4,
    nodes: n,
    later: new Set(),
    at: null,
    tags: none,
    text: stepSentence(step),
  });
  return frames;
}

/** One sentence on a step, also what a screen reader hears. @param {Step} step */
export function stepSentence(step) {
  const accepted = readable(step.path.map(node => step.texts[node]).join(''));
  const bonus = step.last ? quoted(step.pieces[step.pieces.length - 1]) : '';
  const drafted = step.parents.length - step.outcome.split('o').length;
  if (!drafted) return `Nothing was drafted${bonus && `; the target writes ${bonus}`}.`;
  const tail = !step.last
    ? '.'
    : step.last === 'bonus'
      ? `; the target adds ${bonus} without a further pass.`
      : `; the target writes ${bonus} itself.`;
  return `${step.path.length} of ${drafted} drafted tokens accepted${step.path.length ? `: “${accepted}”` : ''}${tail}`;
}

/**
 * A try in plain words, with p, q and the draw u named; a rule without draws says it in its own
 * words.
 * @param {Step} step
 * @param {number} node
 */
export function trySentence(step, node) {
  const accept = step.accept[node],
    draw = step.coin[node],
    name = quoted(step.texts[node]),
    accepted = step.outcome[node] === 'a';
  const siblings = step.parents.flatMap((parent, i) =>
    i > 0 && parent === step.parents[node] && step.outcome[i] !== 'o' ? [i] : [],
  );
  const order = siblings.indexOf(node),
    started =
      siblings.length === 1
        ? `${name} is the only child.`
        : `${name} is tried ${TURNS[order] ?? `as number ${order + 1}`}.`;
  if (accept === null || draw === null || draw < accept !== accepted)
    return `${started} ${step.sentences[step.why[node]]}`;
  const left = order ? leftOf(step, node) : null,
    p = step.p[node],
    q = step.q[node];
  const gave = left
    ? `After the rejection the target’s residual gives it ${short(left.residual)}, the rest of the draft ${short(left.draft)}:`
    : p !== null && q !== null
      ? `The draft gave it q = ${short(q)}, the target p = ${short(p)}:`
      : 'It is';
  const last = siblings.slice(order + 1).every(i => !'axp'.includes(step.outcome[i]));
  const then = accepted
    ? 'accepted'
    : last && step.last === 'correction'
      ? 'rejected, and the target writes the token itself'
      : 'rejected';
  return `${started} ${gave} kept with probability ${short(accept)}. The draw was u = ${short(draw)}: ${then}.`;
}

/**
 * What was left of the target and of the draft for a later sibling.
 * @param {Step} step
 * @param {number} node
 */
function leftOf(step, node) {
  const chart = step.detail[node]?.tried,
    at = chart?.tokens.indexOf(step.tokens[node]) ?? -1,
    { residual, draft } = chart?.rows ?? {};
  return residual && draft && at >= 0 ? { residual: residual[at], draft: draft[at] } : null;
}

/** @param {Step} step @param {number} node @returns {Map<number, string>} */
function drawTag(step, node) {
  const accept = step.accept[node],
    draw = step.coin[node];
  return new Map(
    accept === null || draw === null
      ? []
      : [[node, `u ${short(draw)} ${draw < accept ? '<' : '≥'} ${short(accept)}`]],
  );
}

const keyText = (/** @type {number} */ value) =>
  Number.isInteger(value) ? String(value) : probability(value);

/**
 * Why a node was added.
 * @param {Step} step
 * @param {number} node
 * @param {string} title of the builder's numbers
 */
export function growthSentence(step, node, title) {
  const { keys, waiting, split, cut } = step.growth,
    name = (/** @type {number} */ i) => `“${visible(step.texts[i])}”`,
    key = keys?.[node];
  const added = `Node ${node} of ${step.parents.length - 1}: ${name(node)} after ${name(step.parents[node])}${typeof key === 'number' ? `, ${title} ${keyText(key)}` : ''}.`;
  const open = waiting?.[node - 1]?.map(
    ([parent, value]) => `after ${name(parent)} ${keyText(value)}`,
  );
  const why = open
    ? open.length
      ? ` The best open slot; others: ${open.join(', ')}.`
      : ' The only open slot.'
    : split
      ? ` Its subtree gets ${split[node]} of ${step.parents.length} nodes.`
      : cut
        ? ` Candidate ${node} by rank.`
        : '';
  return added + why;
}

/** What the builder recorded about the whole tree. @param {Step} step */
function rest({ growth: { expected, length, candidates, cut }, parents }) {
  const parts = [];
  if (expected) parts.push(`It expects ${expected.toFixed(2)} tokens per pass.`);
  if (length) parts.push(`Planned draft length: ${plural(length, 'token')}.`);
  if (candidates)
    parts.push(`Of ${candidates} candidates ${candidates - parents.length + 1} were dropped.`);
  if (cut?.texts.length)
    parts.push(
      `The best of those: ${cut.texts.map((text, i) => `“${visible(text)}” ${keyText(cut.keys[i])}`).join(', ')}.`,
    );
  return parts.map(part => ` ${part}`).join('');
}

/** @param {Step} step @param {number} node @returns {Map<number, string>} */
function growthTags({ growth: { waiting, split } }, node) {
  const tags = new Map();
  for (const [parent, value] of waiting?.[node - 1] ?? [])
    tags.set(parent, `◌ ${probability(value)}`);
  if (split) for (let i = 0; i <= node && i < split.length; i++) tags.set(i, `${split[i]}`);
  return tags;
}
