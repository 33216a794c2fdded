// A tree of tokens inside an <svg> in a box that scrolls: what is folded, what is selected, and how
// large all is drawn.

import { makeSvg, queryAll } from '../base/dom.js';
import { onResize, presents } from '../base/page.js';
import { parseKey, roomyLayout, sparseLayout, stairLayout, treeLayout } from './layout.js';
import { paint } from './paint.js';
import { fitSizes, isTooWide, measure } from './sizes.js';

/** @typedef {import('../stage/frames.js').Frame} Frame */
/** @typedef {import('./layout.js').Layout} Layout */
/** @typedef {import('./layout.js').Mark} Mark */
/** @typedef {ReturnType<typeof treeView>} TreeView */
/** @typedef {import('./sizes.js').Measured} Measured */
/** @typedef {import('./sizes.js').Room} Room */
/** @typedef {{ layout: Layout, sizes: Measured }} Drawn */

const PAD = 10; // pixels around the tree
const CUT = 1.3; // times the room of a narrow picture: a broader one keeps its labels and scrolls
const EDGE = 40; // pixels between a mark that is scrolled to and the edge of the box

/**
 * Draws one step after the other. The box of the <svg> keeps its size and scrolls where a tree is
 * larger.
 * @param {SVGSVGElement} svg on the page, alone in a box
 * @param {object} on
 * @param {() => void} [on.inspect] a visitor points at something else, see `over`
 * @param {(key: string, scroll?: boolean) => void} on.pick what a visitor picks; what keys pick may
 *   have to be scrolled to
 * @param {boolean} [on.unfolded] whether every node is drawn where there is no room for all
 * @param {boolean} [on.scrolls] whether a picture that does not fit scrolls; else it is as small
 *   as it takes
 */
export function treeView(svg, { inspect, pick, unfolded = false, scrolls = true }) {
  const canvas = makeSvg('g', {}, svg),
    box = /** @type {HTMLElement} */ (svg.parentElement);
  /** @type {Step | null} */ let step = null;
  /** @type {Frame | null} */ let frame = null;
  /** @type {Drawn | null} */ let drawn = null; // the picture of the step that is on the screen
  let whole = false; // whether all of the tree is shown, however small
  /** @type {Set<string>} */ let open = new Set(); // keys of what a visitor unfolded
  /** @type {string | null} */ let selected = null;
  /** @type {string | null} */ let over = null; // the key of the mark that is pointed at

  function redraw() {
    if (!step || !box.clientWidth) return;
    const room = { wide: box.clientWidth - 2 * PAD, high: box.clientHeight - 2 * PAD };
    // Side by side no picture is wide enough for names beside its marks, but for a chain.
    const isChain = !scrolls && step.parents.every((parent, node) => parent === node - 1);
    const wide = Number(scrolls ? room.wide : isChain && Infinity);
    const areSeveral = new Set(step.drafter?.filter(Boolean)).size > 1;
    const measured = measure(svg, wide, unfolded, areSeveral, drawn?.sizes);
    // Side by side fewer nodes rather than smaller type; on a projector small trees are no larger.
    const scales = presents() ? { smallest: 0.8, largest: 1 } : { smallest: 1 };
    if (!scrolls) Object.assign(measured, scales);
    const layout = isChain ? stairLayout(step) : chooseLayout(step, measured, room);
    let maxOverflow = whole ? 0 : Infinity;
    if (scrolls && measured.below) maxOverflow = Math.min(maxOverflow, CUT);
    draw(layout, step, fitSizes(layout, measured, room, maxOverflow));
    markSelected();
  }

  /**
   * Which nodes are shown: all of them, or as many as a readable picture has rows and columns for.
   * @param {Step} current
   * @param {Measured} sizes
   * @param {Room} room
   */
  function chooseLayout(current, sizes, room) {
    if (whole || unfolded) return treeLayout(current, () => true);
    const { least, low, smallest } = sizes;
    if (!scrolls) {
      const all = treeLayout(current, () => true);
      const isTooHigh = all.rows * least.dy + low > room.high;
      return isTooHigh || isTooWide(all, sizes, room) ? sparseLayout(current) : all;
    }
    const scale = presents() ? 0.95 : smallest; // fewer rows before smaller type
    const rows = Math.floor((room.high / scale - low) / least.dy);
    const columns = Math.floor(room.wide / least.dx);
    return roomyLayout(current, key => open.has(key), { rows, columns });
  }

  /**
   * Paints the layout at these sizes, as large as the room allows.
   * @param {Layout} layout
   * @param {Step} current
   * @param {ReturnType<typeof fitSizes>} fitting
   */
  function draw(layout, current, { sizes, left, top, wide, high, scale, fits }) {
    const there = layout.marks.filter(mark => visibleIn(mark, frame));
    const { edges, nodes } = paint(there, sizes, frame);
    canvas.replaceChildren(edges, nodes);
    const isReadable = fits >= 0.9 * sizes.smallest; // a little smaller rather than scrolled
    const isNarrow = wide * sizes.smallest <= box.clientWidth;
    const isWhole = isReadable || whole || !scrolls || (unfolded && (isNarrow || presents()));
    const drawnScale = isWhole ? Math.min(scale, fits) : sizes.smallest;
    drawn = { layout, sizes };
    svg.setAttribute('viewBox', `${left} ${-top - sizes.dy / 2} ${wide} ${high}`);
    svg.style.width = `${wide * drawnScale}px`;
    svg.style.height = `${high * drawnScale}px`;
    Object.assign(svg.dataset, {
      step: current.index,
      nodes: current.parents.length,
      phase: frame?.phase ?? 4,
    });
    const all = current.parents.length + Number(current.last !== null);
    const isBroad = wide * drawnScale > box.clientWidth;
    const isTall = high * drawnScale > box.clientHeight;
    const pans = (isBroad ? '↔' : '') + (isTall ? '↕' : '');
    const hint = pans && `"scroll ${pans}"`; // for the caption
    box.parentElement?.style.setProperty('--pans', hint);
    box.dataset.fits = String(isReadable && layout.marks.length === all);
  }

  function markSelected() {
    const path = new Set();
    for (let mark = markOf(selected); mark; mark = mark.from) path.add(mark.key);
    for (const node of queryAll(canvas, '.node')) {
      node.classList.toggle('selected', node.dataset.key === selected);
      node.classList.toggle('above', path.has(node.dataset.key));
    }
  }

  /** @param {string | null} key */
  const markOf = key => drawn?.layout.marks.find(mark => mark.key === key) ?? null;

  /** Scrolls the box, not the page, just enough to see a mark. @param {string | null} key */
  function reveal(key) {
    const mark = canvas.querySelector(`.node[data-key="${key}"]`)?.getBoundingClientRect();
    if (!mark) return;
    const { left, right, top, bottom } = box.getBoundingClientRect();
    box.scrollBy(
      Math.min(0, mark.left - left - EDGE) + Math.max(0, mark.right - right + EDGE),
      Math.min(0, mark.top - top - EDGE) + Math.max(0, mark.bottom - bottom + EDGE),
    );
  }

  // ---- what a visitor does ----

  /** @param {any} target @returns {SVGElement | null} */
  const nodeAt = target => target?.closest?.('.node') ?? null;

  /** @param {EventTarget | null} target */
  function point(target) {
    const key = nodeAt(target)?.dataset.key ?? null,
      next = key !== null && parseKey(key).isFold ? null : key;
    if (next === over) return;
    over = next;
    inspect?.();
  }
  svg.addEventListener('pointermove', event => point(event.target));
  svg.addEventListener('pointerleave', () => point(null));
  svg.onclick = ({ target }) => {
    const pill = /** @type {SVGElement | null} */ (
        /** @type {Element} */ (target).closest('.pill')
      ),
      key = pill?.dataset.open ?? nodeAt(target)?.dataset.key;
    if (key === undefined) return;
    if (pill || parseKey(key).isFold) unfold(key);
    else pick(key);
  };

  /** What stood open because there was room stays open. @param {string} key */
  function unfold(key) {
    open = new Set([...open, ...(drawn?.layout.opened ?? []), key]);
    redraw();
  }

  /** @param {number} by */
  const walk = by => () => {
    const { marks } = drawn?.layout ?? { marks: [] };
    const at = marks.findIndex(({ key }) => key === selected);
    pick(marks[at < 0 ? 0 : Math.max(0, Math.min(marks.length - 1, at + by))].key, true);
  };

  onResize(box, redraw);

  return {
    get over() {
      return over;
    },
    get selected() {
      return selected;
    },
    /** @param {Step} next @param {Frame | null} [now] of the step; all of it where there is none */
    show(next, now = null) {
      const other = next !== step;
      if (other) {
        // the fold of one step says nothing about the next
        open = new Set();
        over = null;
      }
      step = next;
      frame = now;
      redraw();
      if (other) {
        box.scrollTo(0, 0);
        reveal('0');
      }
      if (typeof now?.at === 'number') reveal(String(now.at));
    },
    clear() {
      step = drawn = frame = over = selected = null;
      canvas.replaceChildren();
    },
    /**
     * In place of what is pointed at.
     * @param {string | null} key
     * @param {boolean} [scroll] to it
     */
    select(key, scroll = false) {
      selected = key;
      over = null;
      markSelected();
      if (scroll) reveal(key);
    },
    /** The whole tree at once, without folds, as small as that takes; or as before. */
    fit() {
      whole = !whole;
      redraw();
      return whole;
    },
    /**
     * What keys do: up and down the marks.
     * @returns {Record<string, (() => void) | false>}
     */
    keys: () => ({
      ArrowUp: walk(-1),
      ArrowDown: walk(1),
      Enter: selected !== null && (() => unfold(String(selected))),
    }),
  };
}

/** @param {Mark} mark @param {Frame | null} frame */
function visibleIn({ key, node, from }, frame) {
  if (!frame || frame.phase === 4) return true;
  return key !== 'last' && (node ?? from?.node ?? 0) <= frame.lastNode;
}
