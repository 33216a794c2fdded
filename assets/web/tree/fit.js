// Where a tree stands in its picture, and at which sides it goes on beyond it.

/** @typedef {import('../base/panzoom.js').View} View */
/** @typedef {import('./callout.js').Box} Box */
/** @typedef {import('./layout.js').Layout} Layout */
/** @typedef {import('./view.js').Measured} Measured */

/**
 * The view of everything, the accepted path in the middle as far as that leaves nothing out.
 * @param {SVGSVGElement} svg
 * @param {Measured} sizes
 * @param {number} spine the row of the accepted path
 * @param {Box} box
 * @param {(fits: number) => number} scale for the scale at which all rows fit, the one to use
 * @returns {View}
 */
export function wholeView(svg, { dy, unit }, spine, box, scale) {
  const high = svg.clientHeight, k = scale(high / (box.bottom - box.top + 0.2 * dy)), middle = high / 2 - spine * dy * k;
  const inside = Math.max(-box.top * k, Math.min(middle, high - box.bottom * k));
  return { x: 24 * unit - box.left * k, y: (box.bottom - box.top) * k > high ? middle : inside, k };
}

/**
 * The sides at which a tree goes on beyond its picture, as words.
 * @param {SVGSVGElement} svg
 * @param {Measured} sizes
 * @param {Layout} made
 * @param {View} view
 */
export function cutOff(svg, { dx, dy, size, below }, { rows, columns }, { x, y, k }) {
  const sides = { left: x < 0, right: x + ((columns - 1) * dx + size) * k > svg.clientWidth, top: y < 0, bottom: y + ((rows - 1) * dy + (below ? 1.5 : 0) * size) * k > svg.clientHeight };
  return Object.entries(sides).filter(([, cut]) => cut).map(([side]) => side).join(' ');
}
