// A view of trees inside an <svg>: what is folded, what is selected, how large everything is, and where it stands.

import { hear } from '../base/bus.js';
import { draw } from '../base/dom.js';
import { ruler } from '../base/measure.js';
import { panZoom } from '../base/panzoom.js';
import { roomyLayout, treeLayout } from './layout.js';
import { paint } from './paint.js';

/** @typedef {import('../base/types.js').Step} Step */

const ABOVE = 1.2; // rows above the first one and below the last

// Keys of marks that stand for folded siblings.
export const isMore = key => key !== null && key.endsWith('+');

/**
 * Draws one step after the other; zoom and pan last until reset(). An <svg> with a max-height is as tall as the tree
 * needs, any other keeps its own height.
 * @param {SVGSVGElement} svg on the page
 * @param {{ hover: (key: string | null) => void, pick: (key: string) => void, smallest?: number }} on what a visitor
 *   points at and picks; with `smallest`, a tree that is too wide is drawn smaller down to that scale
 */
export function treeView(svg, { hover, pick, smallest }) {
  const canvas = draw('g', {}, svg);
  const hand = panZoom(svg, { changed: place, tapped, pointed });
  let step = /** @type {Step | any} */ (null), layout = /** @type {any} */ (null), sizes = /** @type {any} */ (null);
  let all = false, open = new Set(), selected = null, over = /** @type {string | null} */ (null);
  let most = { rows: 0, columns: 0 }; // these only grow during a run, or the tree would jump
  let grown = /** @type {any} */ (null), kept = /** @type {any} */ (null); // while its growth plays: what is there already, and the view before

  function measure() {
    const style = getComputedStyle(svg), phone = svg.clientWidth < 560;
    const unit = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16; // large type is a large root font
    const size = (phone ? 13 : 14.5) * unit, font = `${size}px ${style.fontFamily}`;
    const width = sizes && sizes.font === font ? sizes.width : ruler(font);
    const least = { dx: (phone ? 100 : unit > 1 ? 92 : 112) * unit, dy: size * 1.8 };
    const tallest = parseFloat(style.maxHeight) || null;
    return { size, font, unit, width, least, tallest, wide: svg.clientWidth - 36 * unit };
  }

  // The layout, and the picture's own height where that follows the tree.
  function arrange() {
    const now = measure(), high = now.tallest ?? svg.clientHeight;
    if (grown) {
      layout = treeLayout({ ...step, outcome: 'r'.padEnd(step.parents.length, 'u'), last: null }, () => true);
    } else {
      const room = { rows: Math.floor(high / now.least.dy - ABOVE), columns: Math.floor(now.wide / now.least.dx) };
      layout = roomyLayout(step, key => all || open.has(key), room);
    }
    most = { rows: Math.max(most.rows, layout.rows), columns: Math.max(most.columns, layout.columns) };
    if (now.tallest) svg.style.height = `${Math.min(now.tallest, (most.rows + ABOVE) * now.size * 2.2)}px`;
    const dy = Math.min(now.size * 2.5, Math.max(now.least.dy, svg.clientHeight / (most.rows + ABOVE)));
    const dx = Math.min(190 * now.unit, Math.max(now.least.dx, now.wide / most.columns));
    sizes = { ...now, dx, dy };
  }

  function redraw() {
    if (!step || !svg.clientWidth) return;
    arrange();
    if (grown) layout.marks = layout.marks.filter(mark => mark.node <= grown.newest);
    canvas.replaceChildren(...paint(layout.marks, step, sizes, grown));
    if (!hand.view || (smallest && !hand.moved && !grown)) hand.set(whole(), false); else place(hand.view);
    markSelected();
    svg.dataset.step = String(step.index);
    svg.dataset.nodes = String(step.parents.length);
    svg.dataset.grown = grown ? String(Math.min(grown.newest, step.parents.length - 1)) : '';
  }

  function whole() {
    const { dx, dy, unit } = sizes;
    const wide = smallest ? Math.max(smallest, svg.clientWidth / (most.columns * dx + 24 * unit)) : 1;
    const fits = svg.clientHeight / (dy * (layout.rows + ABOVE));
    return { x: 24 * unit, y: dy * 0.8, k: Math.min(1, grown ? Math.max(0.6, fits) : wide) };
  }

  function place(view) {
    canvas.setAttribute('transform', `translate(${view.x} ${view.y}) scale(${view.k})`);
  }

  function markSelected() {
    for (const node of /** @type {NodeListOf<SVGElement>} */ (canvas.querySelectorAll('.node'))) {
      node.classList.toggle('selected', layout.marks[Number(node.dataset.at)].key === selected);
    }
  }

  const reveal = mark => hand.reveal(mark.x * sizes.dx, mark.y * sizes.dy, sizes.dx * 0.8);

  // ---- what a visitor does ----

  function keyAt(target) {
    const node = target && target.closest('.node');
    return node ? layout.marks[node.dataset.at].key : null;
  }

  function pointed(target) {
    const key = step && keyAt(target), next = isMore(key) ? null : key;
    if (next === over) return;
    over = next;
    hover(next);
  }

  function tapped(target) {
    if (!step) return;
    const pill = target.closest('.pill'), key = keyAt(target);
    if (pill || isMore(key)) unfold(pill ? pill.dataset.open : key);
    else if (key !== null) pick(key);
  }

  function unfold(key) { // what stood open because there was room stays open
    open = new Set([...open, ...layout?.opened ?? [], key]);
    redraw();
  }

  new ResizeObserver(redraw).observe(svg);
  hear('type', svg, redraw); // large type changes no box of its own accord

  return {
    /** @param {Step} next @param {{ newest: number, tags: Map<number, string> } | null} [growing] */
    show(next, growing = null) {
      if (next !== step) { // the fold of one step says nothing about the next
        open = new Set();
        over = null;
      }
      if (growing && !grown) {
        kept = { view: hand.view, moved: hand.moved };
        hand.set(null); // small enough for all rows
      } else if (!growing && grown) hand.set(kept.view, kept.moved);
      step = next;
      grown = growing;
      redraw();
      const newest = grown && layout && layout.marks.find(mark => mark.node === grown.newest);
      if (newest) reveal(newest);
    },
    clear() {
      step = layout = grown = over = null;
      most = { rows: 0, columns: 0 };
      all = false;
      hand.set(null, false);
      canvas.replaceChildren();
    },
    select(key, look = false) {
      selected = key;
      if (!layout) return;
      markSelected();
      const mark = look && layout.marks.find(item => item.key === key);
      if (mark) reveal(mark);
    },
    toggle() {
      all = !all;
      open = new Set();
      redraw();
      return all;
    },
    reset() {
      hand.set(null, false);
      redraw();
    },
    zoom: hand.zoom,
    // The key of the mark next to the selected one: "up", "down", "parent" or "child".
    walk(way) {
      if (!layout) return null;
      const marks = layout.marks, at = marks.findIndex(mark => mark.key === selected), here = marks[at];
      if (!here) return marks[0].key;
      if (way === 'parent') return here.from ? here.from.key : here.key;
      if (way === 'child') return (marks.find(mark => mark.from === here) || here).key;
      return marks[Math.min(marks.length - 1, Math.max(0, at + (way === 'up' ? -1 : 1)))].key;
    },
    unfold,
  };
}
