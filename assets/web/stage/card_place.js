// Where the card at a node goes: near it, but over nothing that belongs to it or to the accepted
// path, over as few other marks as can be, and inside its room, below which stand the legend and
// the buttons.

const GAP = 8; // pixels around a node
const CLEAR = 4; // pixels that stay free beside a mark, as a node that is picked grows a little
const PACE = 12; // pixels between two places that are tried
const COVERED = 1000; // how many pixels farther the card goes to leave one more mark free

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
 * The top left corner of the card, in the coordinates of the boxes, and how far it reaches out of
 * the room, 0 where it does not. It may only do so at the top: the sentence on the node, which
 * stands there, says what the card says.
 * @param {{ width: number, height: number }} card
 * @param {Box} node
 * @param {Box[]} path what must stay visible
 * @param {Box[]} others what should
 * @param {Box} room
 */
export function placeCard({ width, height }, node, path, others, room) {
  const lefts = placesBetween(room.left, room.right - width, [node.left, node.right + GAP]);
  const beside = [node.bottom + GAP, node.top - GAP - height, room.top];
  const highest = Math.min(room.top, ...path.map(box => box.top - GAP)) - height;
  const tops = placesBetween(highest, room.bottom - height, beside);
  let best = { left: room.left, top: highest, excess: height, cost: Infinity };
  for (const left of lefts) {
    for (const top of tops) {
      const box = { left, top, right: left + width, bottom: top + height };
      if ([node, ...path].some(other => overlap(box, other))) continue;
      const excess = Math.max(0, room.top - top);
      const covered = others.filter(other => overlap(box, other)).length;
      const cost = 1000 * excess + COVERED * covered + distance(box, node);
      if (cost < best.cost) best = { left, top, excess, cost };
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
