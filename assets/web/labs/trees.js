// The Tree lab: small trees side by side, one of them large, and its attention mask in several orders.

import { draw, make, query as part } from '../base/dom.js';
import { downloadButton } from '../figures/card.js';
import { depthsOf, treeCard } from './cards.js';
import { largeTree, share } from './large.js';

/** @typedef {import('./types.js').LabTree} LabTree */

/** @param {HTMLElement} element @param {(question: object) => void} ask the server for another tree or block */
export function treeLab(element, ask) {
  const find = (/** @type {string} */ name) => part(element, name);
  const picture = largeTree(find('.sv-lab-tree'), select);
  /** @type {LabTree} the large one, from the first value on */
  let tree;
  let drawn = '', hint = '', masks = /** @type {ReturnType<typeof maskFigure>[]} */ ([]);

  /** @param {number | null} node */
  function select(node) {
    find('.sv-lab-node').textContent = node === null ? hint : nodeText(tree, node);
    for (const mask of masks) mask.mark(node);
  }

  /** @param {import('./types.js').Forest} forest */
  function side(forest) {
    find('.sv-source').textContent = forest.source.label;
    find('.sv-source').dataset.kind = forest.source.kind;
    find('.sv-lab-where').textContent = forest.where;
    find('.sv-lab-where').hidden = !forest.where;
    find('.sv-lab-read').textContent = forest.read;
    find('.sv-lab-synthetic').hidden = !forest.synthetic;
    find('.sv-lab-synthetic span:last-child').textContent = forest.synthetic;
    const most = Math.max(1, ...forest.trees.map(one => (one.kind === 'none' ? 0 : one.tokens)));
    find('.sv-lab-cards').replaceChildren(...forest.trees.map(one => treeCard(one, most, () => ask({ tree: one.name }))));
    const files = [{ label: 'JSON', name: 'trees.json', text: JSON.stringify(forest.trees) }, { label: 'CSV', name: 'trees.csv', text: forest.csv }];
    find('.sv-files').replaceChildren(...files.map(file => downloadButton(file, 'Comparison of trees')));
  }

  for (const button of /** @type {NodeListOf<HTMLElement>} */ (element.querySelectorAll('.sv-lab-tools button'))) {
    /** @type {Record<string, () => void>} */
    const acts = { fit: picture.fit, in: () => picture.zoom(1.3), out: () => picture.zoom(1 / 1.3) };
    button.addEventListener('click', acts[button.dataset.do ?? '']);
  }
  const asked = new URLSearchParams(location.search);
  if (asked.get('lab') === 'tree' && asked.get('preset')) ask({ preset: asked.get('preset') });
  const block = find('.sv-lab-block'), larger = find('.sv-lab-larger');
  block.addEventListener('change', () => ask({ block: Number(block.value) }));
  larger.addEventListener('click', () => {
    const on = find('.sv-lab-masks').classList.toggle('large');
    larger.setAttribute('aria-pressed', on);
    larger.textContent = on ? 'Side by side' : 'Larger';
  });

  return function show(/** @type {string} */ value) {
    if (!value) return;
    const before = JSON.stringify(tree);
    const { forest, one } = /** @type {import('./types.js').Trees} */ (JSON.parse(value)), text = JSON.stringify(forest);
    hint = forest.hint;
    if (text !== drawn) side(forest); // the cards keep their focus while only what is shown below them changes
    drawn = text;
    for (const button of element.querySelectorAll('.sv-lab-card')) button.setAttribute('aria-pressed', String(button.getAttribute('data-name') === one.name));
    tree = /** @type {LabTree} */ (forest.trees.find(other => other.name === one.name));
    find('.sv-lab-name').textContent = tree.title;
    find('.sv-lab-about').textContent = [`${tree.stats}; ${tree.settings || 'drawn at random'}.`, tree.note].join(' ');
    block.replaceChildren(...one.choices.map(size => new Option(`${size} × ${size}`, String(size), false, size === one.block)));
    find('.sv-lab-bound').textContent = one.bound;
    masks = one.orders.map(order => maskFigure(tree.parents, order, one.block, told => { find('.sv-lab-pair').textContent = told; }));
    find('.sv-lab-masks').replaceChildren(...masks.map(mask => mask.figure));
    picture.show(tree, before === JSON.stringify(tree));
    find('.sv-lab').removeAttribute('aria-busy');
  };
}

/** @param {Pick<LabTree, 'parents' | 'chance'>} tree @param {number} node */
export function nodeText({ parents, chance }, node) {
  const parent = parents[node];
  if (parent < 0) return `The root, the last token of the text, with ${parents.length - 1} drafted tokens below it.`;
  const rank = parents.slice(0, node).filter(other => other === parent).length + 1;
  const below = parents.reduce((set, above, i) => (set.has(above) ? set.add(i) : set), new Set([node])).size - 1;
  const above = parent ? `node ${parent}` : 'the root';
  return `Node ${node}: child ${rank} of ${above}, level ${depthsOf(parents)[node]}. Accepted with probability ${share(chance[node])}, ` +
    `${share(chance[parent] ? chance[node] / chance[parent] : 0)} given that ${above} is. Nodes below it: ${below}.`;
}

/**
 * The attention mask of a tree for one order of its nodes, with the blocks that a kernel would compute.
 * @param {number[]} parents
 * @param {import('./types.js').Mask} picture
 * @param {number} block rows of a block
 * @param {(text: string) => void} told what is under the pointer
 */
function maskFigure(parents, picture, block, told) {
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
