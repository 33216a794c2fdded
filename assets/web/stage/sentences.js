// A step in words: how its tree grew, how each token was tried, what came of it. Every number is
// from the record; nothing here knows a builder or a rule.

import { plural, probability, readable, short, visible } from '../base/text.js';
import { OUTCOMES, OWN } from '../base/words.js';
import { isTried, nodeOfKey } from '../tree/layout.js';

const TURNS = ['first', 'second', 'third'];
/** A token in a sentence; one without text has the picture's sign. @param {string} text */
export const quoted = text =>
  text ? `“${readable(text)}”` : '∅ (the end of the text, or a part of a letter)';

/** @param {string} text */
const quotedToken = text => `“${visible(text)}”`;

/** The numbers of a builder: counts as they are. @param {number} value */
const keyText = value => (Number.isInteger(value) ? String(value) : probability(value));

/**
 * The draw and the probability that it is compared with, with as many digits as tell them apart
 * and a probability from 1.
 * @param {number} coin
 * @param {number} accept
 */
export function comparedTexts(coin, accept) {
  let texts = [short(coin), short(accept)];
  const isVague = () =>
    (coin !== accept && texts[0] === texts[1]) || (accept < 1 && Number(texts[1]) === 1);
  for (let digits = 3; isVague() && digits < 9; digits++)
    texts = [coin.toFixed(digits), accept.toFixed(digits)];
  return texts;
}

/**
 * The other children of a node's parent and itself, without probes.
 * @param {Step} step
 * @param {number} node
 */
export function siblingsOf(step, node) {
  const siblings = [];
  for (let i = 1; i < step.parents.length; i++) {
    if (step.parents[i] === step.parents[node] && step.outcome[i] !== 'probe') siblings.push(i);
  }
  return siblings;
}

/** How many tokens of the tree the draft proposed. @param {Step} step */
const draftedIn = step =>
  step.outcome.filter(outcome => outcome !== 'root' && outcome !== 'probe').length;

/**
 * What a step wrote, also what a screen reader hears.
 * @param {Step} step
 * @param {boolean} [quotes] whether it has the drafted tokens that were accepted
 */
export function stepSentence(step, quotes = true) {
  const own = step.last ? quoted(step.pieces[step.pieces.length - 1]) : '';
  const drafted = draftedIn(step);
  if (!drafted)
    return own ? `Nothing was drafted; the target writes ${own}.` : 'Nothing was drafted.';
  const text = readable(step.path.map(node => step.texts[node]).join(''));
  const accepted = `${step.path.length} of ${drafted} drafted tokens accepted`;
  const start = step.path.length && quotes ? `${accepted}: “${text}”` : accepted;
  if (!own) return `${start}; the text ends there.`;
  if (step.last === 'bonus') return `${start}; the target adds ${own} without a further pass.`;
  return `${start}; the target writes ${own} itself.`;
}

/** What the target’s pass over the tree is for. @param {Step} step */
export function passSentence(step) {
  const nodes = plural(step.parents.length, 'node');
  return (
    `One pass of the target, the model whose text this is, gives its probabilities p ` +
    `after every one of the ${nodes}. ` +
    'Plain decoding needs such a pass for each token.'
  );
}

/**
 * A try in plain words, with p, q and the draw u named; a rule without draws says it in its own
 * words.
 * @param {Step} step
 * @param {number} node
 */
export function trySentence(step, node) {
  const siblings = siblingsOf(step, node);
  const turn = siblings.indexOf(node);
  const start = `${quoted(step.texts[node])} ${turnOf(turn, siblings.length)}`;
  const accept = step.accept[node];
  const coin = step.coin[node];
  const accepted = step.outcome[node] === 'accepted';
  if (accept === null || coin === null || coin < accept !== accepted) {
    return `${start} ${step.sentences[step.why[node]]}`;
  }
  const { compared, enough } = comparedOf(step, node);
  if (accept >= 1 && accepted) {
    return `${start} ${compared ? `${compared}: always kept` : 'It is always kept'}${enough}.`;
  }
  const [draw, chance] = comparedTexts(coin, accept);
  // Nothing is drawn for what is never kept, as at temperature 0.
  const drawn = `kept with probability ${chance}. The draw was u = ${draw}:`;
  const rule = accept > 0 ? drawn : 'never kept, so';
  const isLastTry = siblings.slice(turn + 1).every(i => !isTried(step.outcome[i]));
  const isReplaced = !accepted && isLastTry && step.last === 'correction';
  const outcome = accepted ? 'accepted' : 'rejected';
  const end = isReplaced ? `${outcome}, and the target writes the token itself` : outcome;
  return `${start} ${compared ? `${compared}:` : 'It is'} ${rule} ${end}.`;
}

/** @param {number} turn @param {number} siblings */
function turnOf(turn, siblings) {
  if (siblings === 1) return 'is the only child.';
  return `is tried ${TURNS[turn] ?? `as number ${turn + 1}`}.`;
}

/**
 * What a token’s acceptance was worked out from, and why it is certain where it is.
 * @param {Step} step
 * @param {number} node
 */
function comparedOf(step, node) {
  const { p, q, isLeft } = comparedWith(step, node);
  if (p === null || q === null) return { compared: '', enough: '' };
  if (isLeft) {
    const left = `After the rejection the target’s residual gives it ${short(p)}`;
    return { compared: `${left}, the draft ${short(q)}`, enough: '' };
  }
  const compared = `The draft gave it q = ${short(q)}, the target p = ${short(p)}`;
  return { compared, enough: p >= q ? ', since p ≥ q' : '' };
}

/**
 * The target’s and the draft’s probability at a try: of a later sibling what was left of both; of
 * independent draws the draft is whole.
 * @param {Step} step
 * @param {number} node
 */
export function comparedWith(step, node) {
  const { rows = {}, tokens = [] } = step.detail[node]?.tried ?? {};
  const at = tokens.indexOf(step.tokens[node]);
  const isLeft = siblingsOf(step, node)[0] !== node && rows.residual && rows.draft && at >= 0;
  if (!isLeft) return { p: step.p[node], q: step.q[node] };
  const withoutTried = step.scheme !== 'iid';
  return { p: rows.residual[at], q: rows.draft[at], isLeft, withoutTried };
}

/**
 * What is pointed at, in a sentence: as it was told while its try played, else as its rule has it.
 * @param {Step} step
 * @param {string} key a node or "last"
 */
export function nodeSentence(step, key) {
  const node = nodeOfKey(key);
  if (node === null) {
    const own = quoted(step.pieces[step.pieces.length - 1]);
    return `${own}, ${OUTCOMES[step.last ?? '']}. ${OWN[step.last ?? '']}`;
  }
  if (isTried(step.outcome[node])) return trySentence(step, node);
  return `${quoted(step.texts[node])}. ${step.sentences[step.why[node]]}`;
}

/**
 * Why a node was added.
 * @param {Step} step
 * @param {number} node
 * @param {string} title of the builder's numbers
 */
export function growthSentence(step, node, title) {
  /** @param {number} i */
  const name = i => quotedToken(step.texts[i]);
  const key = step.growth.keys?.[node];
  const worth = typeof key === 'number' ? `, ${title} ${keyText(key)}` : '';
  const place = `Node ${node} of ${step.parents.length - 1}`;
  const added = `${name(node)} after ${name(step.parents[node])}${worth}`;
  return `${place}: ${added}.${choiceOf(step, node)}`;
}

/** Which others there were. @param {Step} step @param {number} node */
function choiceOf({ growth, texts, parents }, node) {
  const others = growth.waiting?.[node - 1];
  if (others?.length === 0) return ' The only open slot.';
  if (others) {
    const open = others.map(([at, key]) => `after ${quotedToken(texts[at])} ${keyText(key)}`);
    return ` The best open slot; others: ${open.join(', ')}.`;
  }
  if (growth.split) return ` Its subtree gets ${growth.split[node]} of ${parents.length} nodes.`;
  return growth.cut ? ` Candidate ${node} by rank.` : '';
}

/** What the whole tree is and what its builder recorded about it. @param {Step} step */
export function treeSentence(step) {
  const { expected, cost, length, candidates, cut } = step.growth;
  const tokens = plural(draftedIn(step), 'token');
  const nodes = step.parents.length;
  const parts = [
    `The draft, cheaper than the target, proposes ${tokens} in ` +
      `${plural(step.draft_passes, 'draft pass')}; with the last token of the text as its root, ` +
      `the tree has ${plural(nodes, 'node')}.`,
  ];
  if (expected) parts.push(`It expects ${expected.toFixed(2)} tokens per pass.`);
  if (cost) parts.push(`This step costs about as much as ${cost.toFixed(1)} of plain decoding.`);
  if (length) parts.push(`Planned draft length: ${plural(length, 'token')}.`);
  if (candidates) parts.push(`Of ${candidates} candidates ${candidates - nodes + 1} were dropped.`);
  if (cut?.texts.length) {
    const best = cut.texts.map((text, i) => `${quotedToken(text)} ${keyText(cut.keys[i])}`);
    parts.push(`The best of those: ${best.join(', ')}.`);
  }
  return parts.join(' ');
}
