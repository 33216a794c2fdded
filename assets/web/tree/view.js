// A view of trees inside an <svg>: what is folded, what is selected, how large everything is, and where it stands.

import { subscribe } from '../base/bus.js';
import { draw } from '../base/dom.js';
import { ruler } from '../base/measure.js';
import { panZoom } from '../base/panzoom.js';
import { drawNote, noteLines, rejectedNode } from './callout.js';
import { cutOff, wholeView } from './fit.js';
import { roomyLayout, treeLayout } from './layout.js';
import { paint } from './paint.js';

/** @typedef {import('../base/types.js').Step} Step */
/** @typedef {import('./growth.js').Grown} Grown */
/** @typedef {import('./layout.js').Layout} Layout */
/** @typedef {import('./tries.js').Tried} Tried */
/** @typedef {import('./callout.js').Box} Box */
/** @typedef {import('../base/panzoom.js').View} View */
/** @typedef {'up' | 'down' | 'parent' | 'child'} Way from one mark to the next */
/** @typedef {ReturnType<typeof treeView>} TreeView */
/** @typedef {import('./paint.js').Sizes & { font: string, wide: number }} Measured */

const ABOVE = 1.2; // rows above the first one and below the last
const NARROW = 560; // pixels; a picture as narrow has its labels below the marks
const SMALLEST = 0.85; // scale, so that no text has less than 10 pixels

/** Keys of marks that stand for folded siblings. @param {string | null} key */
export const isMore = key => key !== null && key.endsWith('+');

/**
 * Draws one step after the other; zoom and pan last until reset(). An <svg> with a max-height is as tall as the tree
 * needs, any other keeps its own height.
 * @param {SVGSVGElement} svg on the page
 * @param {{ hover: (key: string | null) => void, pick: (key: string) => void, fits?: boolean, note?: boolean }} on what
 *   a visitor points at and picks; with `fits`, a tree that is too large is drawn smaller as far as it stays readable; with
 *   `note`, the arithmetic of the first rejection stands beside it
 */
export function treeView(svg, { hover, pick, fits = false, note = false }) {
  const canvas = draw('g', {}, svg);
  const hand = panZoom(svg, { changed: place, tapped, pointed });
  let step = /** @type {Step | null} */ (null), layout = /** @type {Layout | null} */ (null);
  /** @type {Measured} of the tree that is drawn */
  let sizes;
  let all = false, open = /** @type {Set<string>} */ (new Set());
  let selected = /** @type {string | null} */ (null), over = /** @type {string | null} */ (null);
  let most = { rows: 0, columns: 0 }; // these only grow during a run, or the tree would jump
  // While its growth plays: what is there already, and the view before.
  let phase = 4, tried = /** @type {Tried | null} */ (null); // of the step, the last of which shows all; how far its rule has come
  let grown = /** @type {Grown | null} */ (null), kept = /** @type {{ view: View | null, moved: boolean } | null} */ (null);

  /** The layout, and the picture's own height where that follows the tree. @param {Step} one */
  function arrange(one) {
    const now = measure(svg, sizes), high = now.tallest ?? svg.clientHeight;
    const room = { rows: Math.floor(high / now.least.dy - ABOVE), columns: Math.floor(now.wide / now.least.dx) };
    const made = grown ? treeLayout({ ...one, outcome: 'r'.padEnd(one.parents.length, 'u'), last: null }, () => true)
      : roomyLayout(one, key => all || open.has(key), room);
    most = { rows: Math.max(most.rows, made.rows), columns: Math.max(most.columns, made.columns) };
    if (now.tallest) svg.style.height = `${Math.min(now.tallest, (most.rows + ABOVE) * Math.max(now.least.dy, now.size * 2.2))}px`;
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
    if (phase < 4 || (tried && tried.node !== null)) layout.marks = layout.marks.filter(({ letter }) => letter !== 'last');
    const { edges, nodes, taken } = paint(layout.marks, step, sizes, grown, phase, tried?.later);
    canvas.replaceChildren(edges, nodes);
    const box = { left: 0, top: -sizes.dy / 2, right: 0, bottom: (layout.rows - 0.5) * sizes.dy + (sizes.below ? sizes.size / 2 : 0) };
    if (note && !grown && phase > 2) annotate(svg, sizes, step, layout, taken, box, tried?.node ?? rejectedNode(step));
    if (!hand.view || (fits && !hand.moved && !grown)) hand.set(whole(layout, box), false); else place(hand.view);
    svg.dataset.phase = String(phase);
    markSelected();
    svg.dataset.step = String(step.index);
    svg.dataset.nodes = String(step.parents.length);
    svg.dataset.grown = grown ? String(Math.min(grown.newest, step.parents.length - 1)) : '';
  }

  /** @param {Layout} made @param {Box} box @returns {View} */
  function whole(made, box) {
    return wholeView(svg, sizes, made.spine, box, k => {
      const wide = fits ? Math.min(k, svg.clientWidth / (most.columns * sizes.dx + (sizes.below ? 0 : 24 * sizes.unit))) : 1;
      return Math.min(1, Math.max(SMALLEST, grown ? k : wide));
    });
  }

  /** @param {View} view */
  function place(view) {
    canvas.setAttribute('transform', `translate(${view.x} ${view.y}) scale(${view.k})`);
    if (layout) svg.dataset.cut = cutOff(svg, sizes, layout, view);
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
  subscribe('type', svg, redraw); // large type changes no box of its own accord

  return {
    /** @param {Step} next @param {Grown | null} [growing] @param {number} [part] of the step @param {Tried | null} [trying] */
    show(next, growing = null, part = 4, trying = null) {
      if (next !== step) { // the fold of one step says nothing about the next
        open = new Set();
        over = null;
      }
      if (growing && !grown) {
        kept = { view: hand.view, moved: hand.moved };
        hand.set(null); // small enough for all rows
      } else if (!growing && grown && kept) hand.set(kept.view, kept.moved);
      step = next;
      phase = part;
      tried = trying;
      grown = growing;
      redraw();
      const newest = growing && layout?.marks.find(mark => mark.node === growing.newest);
      if (newest) reveal(newest);
    },
    clear() {
      step = layout = grown = tried = over = null;
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
    /** The key of the mark next to the selected one. @type {(way: Way) => string | null} */
    walk: way => (layout ? neighbour(layout.marks, selected, way) : null),
    unfold,
  };
}

/**
 * The sizes of things at this size of type, and the room that an <svg> has.
 * @param {SVGSVGElement} svg
 * @param {Measured | undefined} before whose ruler is good for the same font
 */
function measure(svg, before) {
  const style = getComputedStyle(svg), below = svg.clientWidth < NARROW;
  const unit = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16; // large type is a large root font
  const size = (below ? 12 : 14.5) * unit, font = `${size}px ${style.fontFamily}`;
  const width = before?.font === font ? before.width : ruler(font);
  const least = { dx: (below ? 46 : unit > 1 ? 92 : 112) * unit, dy: size * (below ? 2.5 : 1.8) };
  const tallest = parseFloat(style.maxHeight) || null;
  const words = before?.font === font ? before.words : ruler(`600 ${size * 0.95}px ui-sans-serif, system-ui, sans-serif`);
  return { size, font, unit, width, words, below, least, tallest, wide: svg.clientWidth - 36 * unit };
}

/**
 * Draws the note on a node that was tried, and makes the box that all is in larger where that is needed.
 * @param {SVGSVGElement} svg
 * @param {Measured} sizes
 * @param {Step} step
 * @param {Layout} made
 * @param {Box[]} taken
 * @param {Box} box
 * @param {number | undefined} about the node
 */
function annotate(svg, sizes, step, made, taken, box, about) {
  const mark = made.marks.find(({ node }) => node !== undefined && node === about);
  if (!mark || about === undefined) return;
  const { dx, dy, wide, unit } = sizes, spare = Math.max(0, svg.clientHeight - made.rows * dy) / 2;
  if (sizes.below) box.left = Math.max(0, mark.x * dx + 48 * unit - wide);
  const right = sizes.below ? box.left + wide : Math.max(wide, made.columns * dx); // node and note in sight without panning
  const room = { left: box.left, top: box.top - spare, right, bottom: box.bottom + spare };
  const canvas = /** @type {SVGElement} */ (svg.firstElementChild);
  const drawn = drawNote(canvas, noteLines(step, about), { x: mark.x * dx, y: mark.y * dy }, taken, room, sizes, step.outcome[about]);
  if ((Math.max(box.bottom, drawn.bottom) - Math.min(box.top, drawn.top)) * SMALLEST > svg.clientHeight) return drawn.note.remove(); // no room in sight
  box.top = Math.min(box.top, drawn.top);
  box.bottom = Math.max(box.bottom, drawn.bottom);
}

/** @param {import('./layout.js').Mark[]} marks @param {string | null} selected @param {Way} way */
function neighbour(marks, selected, way) {
  const at = marks.findIndex(mark => mark.key === selected), here = marks[at];
  if (!here) return marks[0].key;
  if (way === 'parent') return here.from ? here.from.key : here.key;
  if (way !== 'child') return marks[Math.min(marks.length - 1, Math.max(0, at + (way === 'up' ? -1 : 1)))].key;
  const below = marks.filter(mark => mark.from === here);
  return (below.find(mark => mark.y === here.y) ?? below[0] ?? here).key;
}
