// Where the card at a node goes: as near as it can be without covering the node or the accepted
// path.

const GAP = 8; // pixels around a node
const CLEAR = 4; // pixels that stay free beside the path, as a node that is picked grows a little

/** @typedef {{ left: number, top: number, right: number, bottom: number }} Box */

/** @param {Box} a @param {Box} b */
const overlap = (a, b) =>
  a.left < b.right + CLEAR &&
  b.left < a.right + CLEAR &&
  a.top < b.bottom + CLEAR &&
  b.top < a.bottom + CLEAR;

/**
 * How far a box reaches out of the room; above it stands the sentence, which must stay.
 * @param {Box} box
 * @param {Box} room
 */
const outside = (box, room) =>
  Math.max(0, box.bottom - room.bottom) +
  3 * Math.max(0, room.top - box.top) +
  3 * Math.max(0, room.left - box.left) +
  3 * Math.max(0, box.right - room.right);

/**
 * The top left corner of the card, in the coordinates of the boxes.
 * @param {{ width: number, height: number }} card
 * @param {Box} node
 * @param {Box[]} path what must stay visible
 * @param {Box} room
 */
export function placeCard({ width, height }, node, path, room) {
  const left = Math.max(room.left, Math.min(node.left, room.right - width));
  const corners = [
    { left, top: node.bottom + GAP },
    { left, top: node.top - GAP - height },
    { left: node.right + GAP, top: node.top },
    { left: node.left - GAP - width, top: node.top },
    // these two are always free, however many rows the path takes
    { left, top: Math.max(node.bottom, ...path.map(box => box.bottom)) + GAP },
    { left, top: Math.min(node.top, ...path.map(box => box.top)) - GAP - height },
  ];
  const boxes = corners.map(corner => ({
    ...corner,
    right: corner.left + width,
    bottom: corner.top + height,
  }));
  const free = boxes.filter(box => ![node, ...path].some(other => overlap(box, other)));
  return free.reduce((best, box) => (outside(box, room) < outside(best, room) ? box : best));
}
