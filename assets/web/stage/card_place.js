// Where the card at a node goes: near it, but not over it or the accepted path, over as few other
// marks as can be, and inside its room.

const GAP = 8; // pixels around a node
const CLEAR = 4; // pixels that stay free beside a mark, as a node that is picked grows a little
const PACE = 12; // pixels between two places that are tried
const COVERED = 1000; // how many pixels farther the card goes to leave a mark free

/** @typedef {{ left: number, top: number, right: number, bottom: number }} Box */

/** @param {Box} a @param {Box} b */
const overlap = (a, b) =>
  a.left < b.right + CLEAR &&
  b.left < a.right + CLEAR &&
  a.top < b.bottom + CLEAR &&
  b.top < a.bottom + CLEAR;

/**
 * The pixels between two boxes, across and down.
 * @param {Box} a
 * @param {Box} b
 */
const distance = (a, b) =>
  Math.max(0, a.left - b.right, b.left - a.right) + Math.max(0, a.top - b.bottom, b.top - a.bottom);

/**
 * The top left corner of the card, in the coordinates of the boxes. Above the room stands the
 * sentence on the node, which says what the card says, so some of that is covered rather than what
 * stands below.
 * @param {{ width: number, height: number }} card
 * @param {Box} node
 * @param {Box[]} path what must stay visible
 * @param {Box[]} others what should
 * @param {Box} room
 */
export function placeCard({ width, height }, node, path, others, room) {
  const lefts = placesBetween(room.left, room.right - width, [node.left, node.right + GAP]);
  const beside = [node.bottom + GAP, node.top - GAP - height, room.top, room.bottom - height];
  const highest = Math.min(room.top, ...path.map(box => box.top - GAP)) - height;
  let best = { left: room.left, top: highest, cost: Infinity };
  for (const top of placesBetween(highest, room.bottom, beside)) {
    for (const left of lefts) {
      const card = { left, top, right: left + width, bottom: top + height };
      if ([node, ...path].some(other => overlap(card, other))) continue;
      const excess = Math.max(0, room.top - top) + 3 * Math.max(0, card.bottom - room.bottom);
      const covered = others.filter(other => overlap(card, other)).length;
      const cost = COVERED * (excess + covered) + distance(card, node);
      if (cost < best.cost) best = { left, top, cost };
    }
  }
  return best;
}

/**
 * Numbers from one to another, and some of its own that are between them.
 * @param {number} from
 * @param {number} to
 * @param {number[]} own
 */
function placesBetween(from, to, own) {
  const places = [from, ...own.filter(at => at > from && at < to)];
  for (let at = from + PACE; at < to; at += PACE) places.push(at);
  return [...places, Math.max(from, to)];
}
