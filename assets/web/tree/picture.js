// The tree of a step as a picture of its own: an SVG with everything it needs inside and no script,
// or a PNG of it. It is built from an allow-list of elements and attributes; text only ever becomes
// text nodes.

import { makeSvg, query, pen } from '../base/dom.js';

const DRAWN =
  'fill stroke stroke-width stroke-opacity stroke-dasharray stroke-linecap stroke-linejoin ' +
  'paint-order font-size font-weight text-anchor';
const PLACED = 'd x y dx dy x1 x2 y1 y2 width height rx transform'.split(' ');
const SANS = 'ui-sans-serif, system-ui, sans-serif';
const LARGEST_SIDE = 8192; // pixels a canvas can surely have

/**
 * @typedef {{ text: string, wide: number, high: number }} Picture an SVG as text, and its size in
 *   pixels
 */

/**
 * @param {{ svg: SVGElement, paper: Element, legends: Iterable<Element>[] }} parts the drawing,
 *   what it is drawn on, and lines of what its marks mean
 * @param {string} caption
 * @returns {Picture}
 */
export function pictureOf({ svg, paper: ground, legends }, caption) {
  const canvas = /** @type {SVGGElement} */ (svg.firstElementChild);
  const box = canvas.getBBox();
  const ink = colour(getComputedStyle(ground).color);
  const paper = colour(getComputedStyle(ground).backgroundColor);
  const size = parseFloat(getComputedStyle(document.documentElement).fontSize),
    margin = 1.2 * size,
    line = 1.7 * size;
  const top = margin + 1.4 * line,
    width = (/** @type {number[]} */ sizes) => Math.ceil(Math.max(...sizes) + 2 * margin);

  const tree = plainCopy(canvas);
  tree.setAttribute('transform', `translate(${margin - box.x} ${top - box.y})`);
  tree.setAttribute('font-family', getComputedStyle(svg).fontFamily);
  const words = makeSvg('g', { fill: ink, 'font-family': SANS, 'font-size': 0.9 * size });
  words.append(makeSvg('text', { x: margin, y: margin + 0.8 * size }, null, caption));

  const ruler = pen(),
    widths = [];
  let row = top + box.height;
  ruler.font = `${0.9 * size}px ${SANS}`;
  for (const legend of legends) {
    const items = [...legend];
    let x = margin;
    if (items.length) row += line;
    for (const item of items) {
      const mark = makeSvg('g', { transform: `translate(${x + 7} ${row})` });
      const shape = plainCopy(query(item, 'path:last-child'));
      shape.removeAttribute('transform');
      mark.append(shape);
      const text = (item.textContent ?? '').trim().replace(/\s+/g, ' ');
      words.append(mark, makeSvg('text', { x: x + 1.4 * size, y: row + 0.32 * size }, null, text));
      x += ruler.measureText(text).width + 3 * size;
    }
    widths.push(x - 2 * margin);
  }

  const wide = width([box.width, ...widths, 1.1 * ruler.measureText(caption).width]),
    high = Math.ceil(row + line);
  const root = makeSvg('svg', { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high });
  root.append(
    makeSvg('title', {}, null, caption),
    makeSvg('rect', { width: wide, height: high, fill: paper }),
    tree,
    words,
  );
  return { text: xmlText(new XMLSerializer().serializeToString(root)), wide, high };
}

/** @param {Element} node @returns {SVGElement} */
export function plainCopy(node) {
  const copy = makeSvg(/** @type {keyof SVGElementTagNameMap} */ (node.localName)),
    style = getComputedStyle(node);
  for (const name of PLACED) {
    const value = node.getAttribute(name);
    if (value !== null) copy.setAttribute(name, value);
  }
  if (node.localName !== 'g') {
    for (const name of DRAWN.split(' ')) {
      const value = style.getPropertyValue(name);
      if (value)
        copy.setAttribute(name, name === 'fill' || name === 'stroke' ? colour(value) : value);
    }
  }
  for (const child of /** @type {any} */ (node.childNodes)) {
    if (child.nodeType === Node.TEXT_NODE) copy.append(child.data);
    else if (!child.classList.contains('hit')) copy.append(plainCopy(child));
  }
  return copy;
}

/**
 * Mixed colours are written in a way that only browsers know; as a pixel every colour is three
 * numbers.
 * @param {string} value
 */
function colour(value) {
  if (value === 'none' || /^(#|rgb\()/.test(value)) return value;
  const paint = pen();
  paint.fillStyle = value;
  paint.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = paint.getImageData(0, 0, 1, 1).data;
  return alpha ? `rgb(${red}, ${green}, ${blue})` : 'none';
}

/** XML has no place for some characters that a token may hold. @param {string} text */
export function xmlText(text) {
  return text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd');
}

/** @param {Picture} picture @returns {Promise<Blob>} */
export async function png(picture) {
  const address = URL.createObjectURL(new Blob([picture.text], { type: 'image/svg+xml' })),
    image = new Image();
  try {
    image.src = address;
    await image.decode();
  } finally {
    URL.revokeObjectURL(address);
  }
  const scale = Math.min(2, LARGEST_SIDE / picture.wide, LARGEST_SIDE / picture.high);
  const paint = pen(picture.wide * scale, picture.high * scale);
  paint.drawImage(image, 0, 0, paint.canvas.width, paint.canvas.height);
  return new Promise((done, failed) =>
    paint.canvas.toBlob(blob => {
      if (blob) done(blob);
      else failed(new Error('The browser could not create the image.'));
    }, 'image/png'),
  );
}
