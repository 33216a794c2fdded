// One tree of the Tree lab, large. Zooming spreads its nodes but never swells them, so that a crowded tree opens up.

import { draw } from '../base/dom.js';
import { panZoom } from '../base/panzoom.js';
import { curve } from '../tree/paint.js';
import { depthsOf } from './cards.js';

/** @typedef {import('./types.js').LabTree} LabTree */
/** @typedef {import('../base/panzoom.js').View} View */

const MARGIN = { left: 26, right: 64, top: 26, bottom: 40 };

/** @param {number} x */
export const share = x => (x === 0 ? '0' : x >= 0.995 ? x.toFixed(3) : x >= 0.0995 ? x.toFixed(2) : x >= 0.001 ? x.toFixed(3) : x.toExponential(0));

/** @param {SVGSVGElement} svg @param {(node: number | null) => void} chosen */
export function largeTree(svg, chosen) {
  const canvas = draw('g', {}, svg);
  /** @type {LabTree} what is shown, from the first on */
  let tree;
  let spots = /** @type {{ x: number, y: number }[]} */ ([]);
  let spread = /** @type {number | null} */ (null), selected = /** @type {number | null} */ (null);
  const hand = panZoom(svg, {
    limits: [0.5, 30],
    changed: view => { if (view.k === spread) place(view); else redraw(view); },
    tapped: target => {
      const spot = target.closest('.spot');
      select(spot ? Number(spot.getAttribute('data-node')) : null);
    },
  });
  svg.addEventListener('keydown', onKey);
  new ResizeObserver(() => {
    if (!svg.clientWidth || !tree) return;
    fit();
    select(selected, true);
  }).observe(svg);

  function fit() {
    if (!tree || !svg.clientWidth) return;
    const { down, high } = steps();
    spread = null; // drawn anew
    hand.set({ k: 1, x: MARGIN.left, y: MARGIN.top + Math.max(0, (down - Math.max(0, ...tree.rows) * high) / 2) }, false);
  }

  // The room there is, and the steps between levels and rows that fill it.
  function steps() {
    const levels = Math.max(1, ...depthsOf(tree.parents)), rows = Math.max(0, ...tree.rows);
    const across = svg.clientWidth - MARGIN.left - MARGIN.right, down = svg.clientHeight - MARGIN.top - MARGIN.bottom;
    return { down, wide: Math.min(120, across / levels), high: rows ? Math.min(26, down / rows) : 26 };
  }

  /** @param {View} view */
  function redraw(view) {
    const { wide, high } = steps(), depth = depthsOf(tree.parents), inner = new Set(tree.parents);
    const dx = wide * view.k, dy = high * view.k, labels = dy >= 15 && dx >= 44, most = Math.max(1.3, Math.min(dx, dy) * 0.32);
    spread = view.k;
    spots = tree.parents.map((_, i) => ({ x: depth[i] * dx, y: tree.rows[i] * dy }));
    const edges = draw('g'), nodes = draw('g');
    tree.parents.forEach((parent, i) => {
      const { x, y } = spots[i], chance = tree.chance[i], thick = (0.6 + Math.min(5, most) * chance).toFixed(2);
      if (parent >= 0) {
        draw('path', { class: 'edge', 'data-node': i, d: curve(spots[parent].x, spots[parent].y, x, y), 'stroke-width': thick }, edges);
      }
      const kind = parent < 0 ? 'root' : inner.has(i) ? 'filled' : 'ring';
      const g = draw('g', { class: `spot ${kind}`, 'data-node': i, transform: `translate(${x} ${y})` }, nodes);
      draw('rect', { class: 'hit', x: -Math.max(4, dx / 3), y: -dy / 2, width: Math.max(8, dx * 0.9), height: Math.max(3, dy) }, g);
      draw('circle', { class: 'mark', r: parent < 0 ? 6 : Math.min(most, 3 + 4.5 * Math.sqrt(chance)).toFixed(2) }, g);
      if (labels && parent >= 0) draw('text', { x: 10, y: -5 }, g, share(chance));
    });
    canvas.replaceChildren(edges, nodes);
    svg.dataset.nodes = String(tree.parents.length);
    paint();
    place(view);
  }

  /** @param {View} view */
  function place(view) {
    canvas.setAttribute('transform', `translate(${view.x} ${view.y})`);
  }

  function paint() { // the selected node, and all that it attends to
    const above = new Set();
    if (selected !== null) for (let node = selected; node >= 0; node = tree.parents[node]) above.add(node);
    for (const part of /** @type {NodeListOf<SVGElement>} */ (canvas.querySelectorAll('[data-node]'))) {
      part.classList.toggle('above', above.has(Number(part.dataset.node)));
      part.classList.toggle('selected', Number(part.dataset.node) === selected);
    }
  }

  /** @param {number | null} node @param {boolean} [look] at it */
  function select(node, look = false) {
    selected = node;
    if (!tree) return;
    paint();
    chosen(node);
    if (!look || node === null || !hand.view) return;
    const { x, y } = spots[node], { k } = hand.view; // spots are spread already
    hand.reveal(x / k, y / k, 40 / k, 40);
  }

  /** Across to parent or first child; up and down among the nodes of a level. @param {number} node @param {string} key */
  function walk(node, key) {
    const { parents, rows } = tree, depth = depthsOf(parents);
    if (key === 'ArrowLeft') return Math.max(0, parents[node]);
    if (key === 'ArrowRight') return parents.includes(node) ? parents.indexOf(node) : node;
    const level = parents.map((_, i) => i).filter(i => depth[i] === depth[node]).sort((i, j) => rows[i] - rows[j]);
    const at = level.indexOf(node) + (key === 'ArrowUp' ? -1 : 1);
    return level[Math.min(level.length - 1, Math.max(0, at))];
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    if (!tree || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith('Arrow')) select(selected === null ? 0 : walk(selected, event.key), true);
    else if (event.key === '+' || event.key === '-') hand.zoom(event.key === '+' ? 1.3 : 1 / 1.3);
    else if (event.key === '0') fit();
    else if (event.key === 'Escape') select(null);
    else return;
    event.preventDefault();
  }

  return {
    /** Another tree is fitted in; the same one keeps its view and its selected node. @param {LabTree} next @param {boolean} same */
    show(next, same) {
      tree = next;
      if (!same || !hand.view) {
        selected = null;
        fit();
      }
      select(selected);
    },
    fit,
    zoom: hand.zoom,
  };
}
