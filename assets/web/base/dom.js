// Elements of the page. Text only ever becomes text nodes: tokens come from models, and anyone may
// write a prompt.

export const SVG = 'http://www.w3.org/2000/svg';

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {string | number | (Node | string)[]} [content] its text, or all that is in it
 * @param {string | Attributes} [kind] its classes, or all its attributes
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function make(name, content = '', kind = '') {
  /** @type {any} */
  const element = document.createElement(name);
  if (Array.isArray(content)) element.append(...content);
  else element.textContent = content;
  if (typeof kind === 'object') assign(element, kind);
  else if (kind) element.className = kind;
  return element;
}

/** @typedef {Record<string, string | number | boolean>} Attributes */

/** @param {any} element @param {Attributes} attributes */
function assign(element, attributes) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
}

/**
 * @param {string | number} text
 * @param {((event: MouseEvent) => void) | null} act what a click does
 * @param {string | Attributes} [kind] its classes, or all its attributes
 */
export function button(text, act, kind = '') {
  const element = make('button', text, kind);
  element.type = 'button';
  if (act) element.onclick = act;
  return element;
}

/**
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} [attributes]
 * @param {Element | null} [parent]
 * @param {string | number} [text]
 * @returns {SVGElementTagNameMap[Name]}
 */
export function makeSvg(name, attributes = {}, parent = null, text = undefined) {
  /** @type {any} */
  const element = document.createElementNS(SVG, name);
  assign(element, attributes);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

/**
 * The element of a template that must be there.
 * @param {ParentNode} root
 * @param {string} selector
 * @returns {any}
 */
export function query(root, selector) {
  const element = root.querySelector(selector);
  if (!element) throw new Error(`There is no ${selector}.`);
  return element;
}

/**
 * @param {ParentNode} root
 * @param {string} selector
 * @returns {any[]} whatever elements of a template it selects
 */
export const queryAll = (root, selector) => [...root.querySelectorAll(selector)];

/** A copy of what is in the template of a part of the page. @param {ParentNode} root */
export const copyOf = root => query(root, 'template').content.firstElementChild.cloneNode(true);

/**
 * Finds parts by the rest of their class: finder(box)('play') is the element .sv-play in the box.
 * @param {ParentNode} root
 * @param {string} [prefix]
 */
export const finder =
  (root, prefix = 'sv-') =>
  (/** @type {string} */ name) =>
    query(root, `.${prefix}${name}`);

/**
 * A screen reader reads every change, so there must be none where the text stays the same.
 * @param {Element} node
 * @param {string} text
 */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * A slider from 0, or from `min`, on.
 * @param {{ min?: number, max: number, step: number, value: number }} range
 * @param {(value: number) => void} changed
 */
export function slider({ min = 0, max, step, value }, changed) {
  // the value last, since it is cut to the range
  const input = make('input', '', { class: 'sv-track', type: 'range', min, max, step, value });
  input.oninput = () => changed(input.valueAsNumber);
  return input;
}

/** Shows which one of some buttons is chosen. @param {any} box @param {number} chosen */
export function press(box, chosen) {
  [...box.children].forEach((item, i) => item.setAttribute('aria-pressed', i === chosen));
}

/** Where a visitor types. @param {string} part of the page, as a selector */
export function fieldIn(part) {
  /** @type {HTMLTextAreaElement | null} */
  const field = document.querySelector(`${part} :is(textarea, input)`);
  return field;
}

/** Something to paint on or to measure with. @param {number} [width] @param {number} [height] */
export function pen(width = 1, height = 1) {
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  return /** @type {CanvasRenderingContext2D} */ (
    canvas.getContext('2d', { willReadFrequently: true })
  );
}

/** Offers a file to the visitor. @param {string} name @param {string | Blob} content */
export function downloadFile(name, content) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/**
 * Puts a text on the clipboard, or in a file where that is not allowed; says what it did.
 * @param {string} text
 * @param {string} what
 */
export async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    return `${what} copied.`;
  } catch {
    const name = `specviz-${what.toLowerCase()}.txt`;
    downloadFile(name, text);
    return `${name} saved.`;
  }
}
