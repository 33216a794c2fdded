// Where the card at a node goes: right beside it or, across the accepted path, near it; over
// neither of them, and over as few other marks as can be.

const GAP = 8; // pixels around a node
const CLEAR = 4; // pixels that stay free beside a mark, as a node that is picked grows a little
const COVERED = 20; // how many pixels of the card may leave its room for a mark to stay free

/** @typedef {{ left: number, top: number, right: number, bottom: number }} Box */

/** @param {Box} a @param {Box} b */
const overlap = (a, b) =>
  a.left < b.right + CLEAR &&
  b.left < a.right + CLEAR &&
  a.top < b.bottom + CLEAR &&
  b.top < a.bottom + CLEAR;

/**
 * The top left corner of the card, in the coordinates of the boxes. The accepted path is a row, so
 * there is always a place on one side of it, though perhaps above or below the room.
 * @param {{ width: number, height: number }} card
 * @param {Box} node
 * @param {Box[]} path what must stay visible
 * @param {Box[]} others what should
 * @param {Box} room
 */
export function placeCard({ width, height }, node, path, others, room) {
  const lefts = [node.left, node.right + GAP, node.left - GAP - width].map(left =>
    Math.max(room.left, Math.min(left, room.right - width)),
  );
  const above = Math.min(...path.map(({ top }) => top));
  const below = Math.max(...path.map(({ bottom }) => bottom));
  const tops = [node.top, node.bottom - height, node.bottom + GAP, below + GAP];
  tops.push(node.top - GAP - height, above - GAP - height);
  const places = tops.flatMap(top =>
    lefts.map(left => ({ left, top, right: left + width, bottom: top + height })),
  );
  const costs = places.map(card => {
    if ([node, ...path].some(other => overlap(card, other))) return Infinity;
    // Above the room stands the sentence about the node.
    const outside = 3 * Math.max(0, room.top - card.top) + Math.max(0, card.bottom - room.bottom);
    const away = Math.max(0, card.top - node.bottom, node.top - card.bottom);
    return outside + away + COVERED * others.filter(other => overlap(card, other)).length;
  });
  return places[costs.indexOf(Math.min(...costs))];
}
