// Where the card at a node goes: as near as it can be without covering the node or the accepted
// path, and inside its room, below which stand the legend and the buttons.

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
 * How far a box reaches out of the room. Above it stands the sentence on the node, which says what
 * the card says; so where no place is left, some of that is covered first.
 * @param {Box} box
 * @param {Box} room
 */
const outside = (box, room) =>
  3 * Math.max(0, box.bottom - room.bottom) +
  Math.max(0, room.top - box.top) +
  3 * Math.max(0, room.left - box.left) +
  3 * Math.max(0, box.right - room.right);

/**
 * The pixels between two boxes, across and down.
 * @param {Box} a
 * @param {Box} b
 */
const distance = (a, b) =>
  Math.max(0, a.left - b.right, b.left - a.right) + Math.max(0, a.top - b.bottom, b.top - a.bottom);

/**
 * The top left corner of the card, in the coordinates of the boxes, and how far it reaches out of
 * the room, 0 where it does not.
 * @param {{ width: number, height: number }} card
 * @param {Box} node
 * @param {Box[]} path what must stay visible
 * @param {Box} room
 */
export function placeCard({ width, height }, node, path, room) {
  const below = Math.max(node.bottom, ...path.map(box => box.bottom)) + GAP;
  const above = Math.min(node.top, ...path.map(box => box.top)) - GAP - height;
  const left = Math.max(room.left, Math.min(node.left, room.right - width));
  // The last two tops are free at any left, however many rows the path takes.
  const tops = [node.bottom + GAP, node.top - GAP - height, room.top, room.bottom - height];
  const corners = [...tops, below, above].flatMap(top => [
    { left, top },
    { left: room.left, top },
    { left: room.right - width, top },
  ]);
  corners.push({ left: node.right + GAP, top: node.top });
  corners.push({ left: node.left - GAP - width, top: node.top });
  const boxes = corners.map(corner => {
    const box = { ...corner, right: corner.left + width, bottom: corner.top + height };
    return { ...box, excess: outside(box, room), far: distance(box, node) };
  });
  const free = boxes.filter(box => ![node, ...path].some(other => overlap(box, other)));
  const isBetter = (/** @type {typeof boxes[0]} */ a, /** @type {typeof boxes[0]} */ b) =>
    a.excess < b.excess || (a.excess === b.excess && a.far < b.far);
  return free.reduce((best, box) => (isBetter(box, best) ? box : best));
}
