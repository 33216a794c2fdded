// One hand on a picture: dragged with one pointer, pinched with two, zoomed by the wheel. The wheel belongs to the page
// unless ctrl is held or the picture has the focus.

const STILL = 5; // pixels a pointer may move and still count as a tap

/**
 * Where the origin of a picture stands, and how large one unit of it is, in pixels.
 * @typedef {{ x: number, y: number, k: number }} View
 * @typedef {{ x: number, y: number }} Point
 */

/**
 * The view after zooming about the point (x, y).
 * @param {View} view
 * @param {number} factor
 * @param {number} x
 * @param {number} y
 * @param {[number, number]} limits of the scale
 */
export function zoomed(view, factor, x, y, [least, most]) {
  const k = Math.min(most, Math.max(least, view.k * factor)), f = k / view.k;
  return { k, x: x - (x - view.x) * f, y: y - (y - view.y) * f };
}

/**
 * The view after two fingers went from `before` to `now`, each a pair of points.
 * @param {View} view
 * @param {Point[]} before
 * @param {Point[]} now
 * @param {[number, number]} limits
 */
export function pinched(view, before, now, limits) {
  const middle = (/** @type {Point[]} */ [a, b]) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
  const apart = (/** @type {Point[]} */ [a, b]) => Math.max(1, Math.hypot(a.x - b.x, a.y - b.y));
  const from = middle(before), to = middle(now);
  const grown = zoomed(view, apart(now) / apart(before), from.x, from.y, limits);
  return { ...grown, x: grown.x + to.x - from.x, y: grown.y + to.y - from.y };
}

/**
 * @param {SVGSVGElement} svg
 * @param {{ changed: (view: View) => void, tapped: (target: Element) => void, pointed?: (target: Element | null) => void,
 *   limits?: [number, number] }} on what a visitor did; `pointed` with null once the pointer has left
 */
export function panZoom(svg, { changed, tapped, pointed = () => {}, limits = [0.15, 4] }) {
  /** @type {Map<number, Point>} */
  const held = new Map(); // pointerId -> where it is, of at most two
  let view = /** @type {View | null} */ (null);
  let moved = false; // whether the visitor chose this view
  /** @type {{ points: Point[], view: View } | null} */
  let grip = null; // where the pointers were when the last of them came or went, and the view then
  let dragged = false; // whether this touch moved anything, so that it is no tap

  /** @param {View | null} next @param {boolean} [chosen] by the visitor */
  function set(next, chosen = true) {
    view = next;
    moved = chosen;
    if (view) changed(view);
  }

  /** @param {number} factor @param {number} [x] @param {number} [y] */
  function zoom(factor, x = svg.clientWidth / 2, y = svg.clientHeight / 2) {
    if (view) set(zoomed(view, factor, x, y, limits));
  }

  /**
   * Pans just enough to see the box from (x, y) with this width, in units of the picture, and some pixels around it.
   * @param {number} x
   * @param {number} y
   * @param {number} right its width
   * @param {number} [edge] pixels
   */
  function reveal(x, y, right, edge = 30) {
    if (!view) return;
    const left = view.x + x * view.k, top = view.y + y * view.k;
    const dx = Math.max(0, edge - left) - Math.max(0, left + right * view.k - svg.clientWidth);
    const dy = Math.max(0, edge - top) - Math.max(0, top + edge - svg.clientHeight);
    set({ ...view, x: view.x + dx, y: view.y + dy });
  }

  const point = (/** @type {MouseEvent} */ event) => {
    const box = svg.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const hold = () => { grip = held.size && view ? { points: [...held.values()], view: { ...view } } : null; };

  svg.addEventListener('wheel', event => {
    if (!view || !(event.ctrlKey || document.activeElement === svg)) return;
    event.preventDefault();
    const { x, y } = point(event);
    zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.004 : 0.0015)), x, y);
  }, { passive: false });

  svg.addEventListener('pointerdown', event => {
    if (event.button !== 0 || !view || held.size === 2) return;
    if (!held.size) dragged = false;
    held.set(event.pointerId, point(event));
    if (held.size === 2) {
      dragged = true;
      for (const id of held.keys()) svg.setPointerCapture(id);
    }
    hold();
  });

  svg.addEventListener('pointermove', event => {
    if (!held.has(event.pointerId) || !grip) {
      if (!held.size) pointed(/** @type {Element} */ (event.target));
      return;
    }
    held.set(event.pointerId, point(event));
    const now = [...held.values()];
    if (now.length === 2) return set(pinched(grip.view, grip.points, now, limits));
    const x = now[0].x - grip.points[0].x, y = now[0].y - grip.points[0].y;
    if (!dragged && Math.hypot(x, y) < STILL) return;
    if (!dragged) svg.setPointerCapture(event.pointerId);
    dragged = true;
    set({ ...grip.view, x: grip.view.x + x, y: grip.view.y + y });
  });

  /** @param {PointerEvent} event */
  function release(event) {
    if (!held.delete(event.pointerId)) return;
    hold();
    if (event.type === 'pointerup' && !held.size && !dragged) tapped(/** @type {Element} */ (event.target));
  }
  svg.addEventListener('pointerup', release);
  svg.addEventListener('pointercancel', release);
  svg.addEventListener('pointerleave', () => { if (!held.size) pointed(null); });

  return {
    get view() { return view; },
    get moved() { return moved; },
    set, zoom, reveal,
  };
}
