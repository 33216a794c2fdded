// Elements of the page. Text only ever becomes text nodes: tokens come from models, and anyone may write a prompt.

export const SVG = 'http://www.w3.org/2000/svg';

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {string | number} [text]
 * @param {string} [kind] its classes
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function make(name, text = '', kind = '') {
  const made = document.createElement(name);
  made.textContent = String(text);
  if (kind) made.className = kind;
  return made;
}

/**
 * @param {string | number} text
 * @param {((event: MouseEvent) => void) | null} act what a click does
 * @param {string} [kind] its classes
 */
export function button(text, act, kind = '') {
  const made = make('button', text, kind);
  made.type = 'button';
  if (act) made.addEventListener('click', act);
  return made;
}

/**
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string | number>} [attributes]
 * @param {Element | null} [parent]
 * @param {string | number} [text]
 * @returns {SVGElementTagNameMap[Name]}
 */
export function draw(name, attributes = {}, parent = null, text = undefined) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (text !== undefined) made.textContent = String(text);
  if (parent) parent.append(made);
  return made;
}

/**
 * Finds parts by the rest of their class: finder(box, 'sv-')('play') is the element .sv-play in the box. Which kind of
 * element that is, the template says.
 * @param {Element} root
 * @param {string} [prefix]
 * @returns {(name: string) => any}
 */
export function finder(root, prefix = 'sv-') {
  return name => root.querySelector(`.${prefix}${name}`);
}

/**
 * The element of a template that must be there, of whatever kind.
 * @param {Element} root
 * @param {string} selector
 * @returns {any}
 */
export const one = (root, selector) => root.querySelector(selector);

/**
 * A screen reader reads every change, so there must be none where the text stays the same.
 * @param {Element} node
 * @param {string} text
 */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Something to paint on or to measure with.
 * @param {number} [width]
 * @param {number} [height]
 */
export function pen(width = 1, height = 1) {
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { willReadFrequently: true }));
}

/**
 * Offers a file to the visitor.
 * @param {string} name
 * @param {Blob} blob
 */
export function give(name, blob) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
