// A view of trees inside an <svg>: what is folded, what is selected, how large everything is, and where it stands.

import { hear } from '../base/bus.js';
import { draw } from '../base/dom.js';
import { ruler } from '../base/measure.js';
import { panZoom } from '../base/panzoom.js';
import { roomyLayout, treeLayout } from './layout.js';
import { paint } from './paint.js';

/** @typedef {import('../base/types.js').Step} Step */
/** @typedef {import('./growth.js').Grown} Grown */
/** @typedef {import('./layout.js').Layout} Layout */
/** @typedef {import('../base/panzoom.js').View} View */
/** @typedef {'up' | 'down' | 'parent' | 'child'} Way from one mark to the next */
/** @typedef {ReturnType<typeof treeView>} TreeView */
/** @typedef {import('./paint.js').Sizes & { font: string }} Measured */

const ABOVE = 1.2; // rows above the first one and below the last

/** Keys of marks that stand for folded siblings. @param {string | null} key */
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
  let step = /** @type {Step | null} */ (null), layout = /** @type {Layout | null} */ (null);
  /** @type {Measured} of the tree that is drawn */
  let sizes;
  let all = false, open = /** @type {Set<string>} */ (new Set());
  let selected = /** @type {string | null} */ (null), over = /** @type {string | null} */ (null);
  let most = { rows: 0, columns: 0 }; // these only grow during a run, or the tree would jump
  // While its growth plays: what is there already, and the view before.
  let grown = /** @type {Grown | null} */ (null), kept = /** @type {{ view: View | null, moved: boolean } | null} */ (null);

  /** The layout, and the picture's own height where that follows the tree. @param {Step} one */
  function arrange(one) {
    const now = measure(svg, sizes), high = now.tallest ?? svg.clientHeight;
    const room = { rows: Math.floor(high / now.least.dy - ABOVE), columns: Math.floor(now.wide / now.least.dx) };
    const made = grown ? treeLayout({ ...one, outcome: 'r'.padEnd(one.parents.length, 'u'), last: null }, () => true)
      : roomyLayout(one, key => all || open.has(key), room);
    most = { rows: Math.max(most.rows, made.rows), columns: Math.max(most.columns, made.columns) };
    if (now.tallest) svg.style.height = `${Math.min(now.tallest, (most.rows + ABOVE) * now.size * 2.2)}px`;
    const dy = Math.min(now.size * 2.5, Math.max(now.least.dy, svg.clientHeight / (most.rows + ABOVE)));
    const dx = Math.min(190 * now.unit, Math.max(now.least.dx, now.wide / most.columns));
    sizes = { ...now, dx, dy };
    return made;
  }

  function redraw() {
    if (!step || !svg.clientWidth) return;
    layout = arrange(step);
    const newest = grown ? grown.newest : Infinity;
    if (grown) layout.marks = layout.marks.filter(({ node }) => node !== undefined && node <= newest);
    canvas.replaceChildren(...paint(layout.marks, step, sizes, grown));
    if (!hand.view || (smallest && !hand.moved && !grown)) hand.set(whole(layout.rows), false); else place(hand.view);
    markSelected();
    svg.dataset.step = String(step.index);
    svg.dataset.nodes = String(step.parents.length);
    svg.dataset.grown = grown ? String(Math.min(grown.newest, step.parents.length - 1)) : '';
  }

  /** @param {number} rows @returns {View} */
  function whole(rows) {
    const { dx, dy, unit } = sizes;
    const wide = smallest ? Math.max(smallest, svg.clientWidth / (most.columns * dx + 24 * unit)) : 1;
    const fits = svg.clientHeight / (dy * (rows + ABOVE));
    return { x: 24 * unit, y: dy * 0.8, k: Math.min(1, grown ? Math.max(0.6, fits) : wide) };
  }

  /** @param {View} view */
  function place(view) {
    canvas.setAttribute('transform', `translate(${view.x} ${view.y}) scale(${view.k})`);
  }

  function markSelected() {
    for (const node of /** @type {NodeListOf<SVGElement>} */ (canvas.querySelectorAll('.node'))) {
      node.classList.toggle('selected', layout?.marks[Number(node.dataset.at)].key === selected);
    }
  }

  const reveal = (/** @type {import('./layout.js').Mark} */ mark) => hand.reveal(mark.x * sizes.dx, mark.y * sizes.dy, sizes.dx * 0.8);

  // ---- what a visitor does ----

  /** @param {Element | null} target */
  function keyAt(target) {
    const node = /** @type {SVGElement | null} */ (target && target.closest('.node'));
    return (node && layout?.marks[Number(node.dataset.at)].key) ?? null;
  }

  /** @param {Element | null} target */
  function pointed(target) {
    const key = step && keyAt(target), next = isMore(key) ? null : key;
    if (next === over) return;
    over = next;
    hover(next);
  }

  /** @param {Element} target */
  function tapped(target) {
    if (!step) return;
    const pill = /** @type {SVGElement | null} */ (target.closest('.pill')), key = pill?.dataset.open ?? keyAt(target);
    if (key === null) return;
    if (pill || isMore(key)) unfold(key); else pick(key);
  }

  /** What stood open because there was room stays open. @param {string} key */
  function unfold(key) {
    open = new Set([...open, ...layout?.opened ?? [], key]);
    redraw();
  }

  new ResizeObserver(redraw).observe(svg);
  hear('type', svg, redraw); // large type changes no box of its own accord

  return {
    /** @param {Step} next @param {Grown | null} [growing] */
    show(next, growing = null) {
      if (next !== step) { // the fold of one step says nothing about the next
        open = new Set();
        over = null;
      }
      if (growing && !grown) {
        kept = { view: hand.view, moved: hand.moved };
        hand.set(null); // small enough for all rows
      } else if (!growing && grown && kept) hand.set(kept.view, kept.moved);
      step = next;
      grown = growing;
      redraw();
      const newest = growing && layout?.marks.find(mark => mark.node === growing.newest);
      if (newest) reveal(newest);
    },
    clear() {
      step = layout = grown = over = null;
      most = { rows: 0, columns: 0 };
      all = false;
      hand.set(null, false);
      canvas.replaceChildren();
    },
    /** @param {string | null} key @param {boolean} [look] at it */
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
    /** The key of the mark next to the selected one. @param {Way} way */
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

/**
 * The sizes of things at this size of type, and the room that an <svg> has.
 * @param {SVGSVGElement} svg
 * @param {Measured | undefined} before whose ruler is good for the same font
 */
function measure(svg, before) {
  const style = getComputedStyle(svg), phone = svg.clientWidth < 560;
  const unit = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16; // large type is a large root font
  const size = (phone ? 13 : 14.5) * unit, font = `${size}px ${style.fontFamily}`;
  const width = before?.font === font ? before.width : ruler(font);
  const least = { dx: (phone ? 100 : unit > 1 ? 92 : 112) * unit, dy: size * 1.8 };
  const tallest = parseFloat(style.maxHeight) || null;
  return { size, font, unit, width, least, tallest, wide: svg.clientWidth - 36 * unit };
}
