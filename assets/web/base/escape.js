// Escape closes what is open: of all that lies one over the other, only the topmost.

const LAYERS = ['page', 'drawer', 'card', 'menu']; // the topmost last

/**
 * What Escape may close.
 * @typedef {{ element: Element, layer: number, close: () => boolean }} Part
 */

/** @type {Part[]} */
let parts = [];

/**
 * @param {Element} element as long as it is on the screen
 * @param {'page' | 'drawer' | 'card' | 'menu'} layer where the part lies
 * @param {() => boolean} close closes the part; returns whether it was open
 */
export function closedByEscape(element, layer, close) {
  document.addEventListener('keydown', heard); // once, however often
  parts = parts.filter(part => part.element.isConnected);
  parts.push({ element, layer: LAYERS.indexOf(layer), close });
  parts.sort((a, b) => b.layer - a.layer);
}

/** @param {KeyboardEvent} event */
function heard(event) {
  const target = /** @type {Element} */ (event.target);
  // gradio's menus close their own lists
  if (event.key !== 'Escape' || target.matches('[role=listbox]')) return;
  const closed = parts.some(({ element, close }) => element.getClientRects().length > 0 && close());
  if (closed) event.preventDefault();
}
