// A tree of tokens inside an <svg> in a box: all of it, as large as there is room for; what is
// pointed at and what is selected.

import { makeSvg, queryAll } from '../base/dom.js';
import { onResize } from '../base/page.js';
import { treeLayout } from './layout.js';
import { paint } from './paint.js';
import { sizesFor } from './sizes.js';

/** @typedef {import('../stage/frames.js').Frame} Frame */
/** @typedef {import('./sizes.js').Placed} Placed */
/** @typedef {ReturnType<typeof treeView>} TreeView */

const PAD = 10; // pixels around the tree

/**
 * Draws one step after the other. The box of the <svg> keeps its size and scrolls where a tree
 * would be too small to see.
 * @param {SVGSVGElement} svg on the page, alone in a box
 * @param {object} on
 * @param {() => void} [on.inspect] a visitor points at something else, see `over`
 * @param {(key: string, scroll?: boolean) => void} on.pick what a visitor picks; what keys pick may
 *   have to be scrolled to
 */
export function treeView(svg, { inspect, pick }) {
  const canvas = makeSvg('g', {}, svg),
    box = /** @type {HTMLElement} */ (svg.parentElement);
  /** @type {Step | null} */ let step = null;
  /** @type {Frame | null} */ let frame = null;
  /** @type {Placed[]} */ let marks = []; // of the picture that is on the screen
  /** @type {string | null} */ let selected = null;
  /** @type {string | null} */ let over = null; // the key of the mark that is pointed at

  function redraw() {
    const room = { wide: box.clientWidth - 2 * PAD, high: box.clientHeight - 2 * PAD };
    if (!step || room.wide <= 0 || room.high <= 0) return;
    // By the whole tree, so that nothing moves while its frames play.
    const sizes = sizesFor(treeLayout(step), svg, room);
    const { wide, high, scale } = sizes;
    marks = sizes.marks.filter(mark => visibleIn(mark, frame));
    const { edges, nodes } = paint(marks, sizes, frame);
    canvas.replaceChildren(edges, nodes);
    svg.setAttribute('viewBox', `0 0 ${wide} ${high}`);
    svg.style.width = `${wide * scale}px`;
    svg.style.height = `${high * scale}px`;
    Object.assign(svg.dataset, {
      step: step.index,
      nodes: step.parents.length,
      phase: frame?.phase ?? 4,
    });
    markSelected();
  }

  function markSelected() {
    const path = new Set();
    /** @type {import('./layout.js').Mark | null} */
    let mark = marks.find(({ key }) => key === selected) ?? null;
    for (; mark; mark = mark.from) path.add(mark.key);
    for (const node of queryAll(canvas, '.node')) {
      node.classList.toggle('selected', node.dataset.key === selected);
      node.classList.toggle('above', path.has(node.dataset.key));
    }
  }

  /** Scrolls the box, not the page, to a mark. @param {string | null} key */
  function reveal(key) {
    const mark = canvas.querySelector(`.node[data-key="${key}"]`)?.getBoundingClientRect();
    if (!mark) return;
    const { left, top } = box.getBoundingClientRect();
    box.scrollBy(mark.left - left - box.clientWidth / 2, mark.top - top - box.clientHeight / 2);
  }

  // ---- what a visitor does ----

  /** @param {any} target @returns {string | null} */
  const keyAt = target => target?.closest('.node')?.dataset.key ?? null;

  /** @param {string | null} next */
  function point(next) {
    if (next === over) return;
    over = next;
    inspect?.();
  }
  svg.addEventListener('pointermove', event => point(keyAt(event.target)));
  svg.addEventListener('pointerleave', () => point(null));
  svg.onclick = ({ target }) => {
    const key = keyAt(target);
    if (key !== null) pick(key);
  };

  /** @param {number} by */
  const walk = by => () => {
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
      if (next !== step) over = null;
      step = next;
      frame = now;
      redraw();
      reveal(String(now?.at ?? 0));
    },
    clear() {
      step = frame = over = selected = null;
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
    /** What keys do: up and down the marks. @type {Record<string, () => void>} */
    keys: { ArrowUp: walk(-1), ArrowDown: walk(1) },
  };
}

/** @param {Placed} mark @param {Frame | null} frame */
function visibleIn({ key, node }, frame) {
  if (!frame || frame.phase === 4) return true;
  return key !== 'last' && node <= frame.lastNode;
}
