// The attention mask of a tree for one order of its nodes, with the blocks that a kernel would compute.

import { draw, make } from '../base/dom.js';

/**
 * @param {number[]} parents
 * @param {import('./types.js').Mask} picture
 * @param {number} block rows of a block
 * @param {(text: string) => void} told what is under the pointer
 */
export function maskFigure(parents, picture, block, told) {
  const n = parents.length, place = new Array(n), pairs = new Map();
  picture.order.forEach((node, at) => { place[node] = at; });
  const box = draw('svg', { viewBox: `${-n * 0.004} ${-n * 0.004} ${n * 1.008} ${n * 1.008}`, role: 'img' });
  draw('title', {}, box, `Attention mask, ${picture.name} order: ${picture.said}`);
  draw('rect', { class: 'paper', x: 0, y: 0, width: n, height: n }, box);
  for (const [row, column, count] of picture.blocks) {
    pairs.set(`${row} ${column}`, count);
    const x = column * block, y = row * block;
    draw('rect', { class: 'block', x, y, width: Math.min(block, n - x), height: Math.min(block, n - y) }, box);
  }
  let cells = '';
  for (let node = 0; node < n; node++) {
    for (let above = node; above >= 0; above = parents[above]) cells += `M${place[above]} ${place[node]}h1v1h-1z`;
  }
  draw('path', { class: 'cells', d: cells }, box);
  const line = draw('rect', { class: 'row', x: 0, y: 0, width: n, height: 1, visibility: 'hidden' }, box);
  box.addEventListener('pointermove', event => {
    const frame = box.getBoundingClientRect();
    /** @type {(from: number, length: number, where: number) => number} */
    const at = (from, length, where) => Math.floor((((where - from) / length) * 1.008 - 0.004) * n);
    const column = at(frame.left, frame.width, event.clientX), row = at(frame.top, frame.height, event.clientY);
    if (row < 0 || column < 0 || row >= n || column >= n) return;
    const count = pairs.get(`${Math.floor(row / block)} ${Math.floor(column / block)}`) || 0;
    told(`${picture.name}: row ${row} is node ${picture.order[row]}, column ${column} is node ` +
      `${picture.order[column]}; their block holds ${count} pair${count === 1 ? '' : 's'}${count ? '' : ' and is skipped'}.`);
  });
  const figure = make('figure', '', 'sv-lab-mask'), words = make('figcaption');
  words.append(make('b', picture.name), ` ${picture.said}`);
  figure.append(box, words);
  return {
    figure,
    /** @param {number | null} node */
    mark(node) {
      line.setAttribute('y', String(node === null ? -1 : place[node]));
      line.setAttribute('visibility', node === null ? 'hidden' : 'visible');
    },
  };
}
