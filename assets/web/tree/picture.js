// The tree of a step as a picture of its own: an SVG with everything it needs inside and no script, or a PNG of it.
// It is built from an allow-list of elements and attributes; text only ever becomes text nodes.

import { draw, finder, pen } from '../base/dom.js';

const DRAWN = { // with the values that need not be written
  fill: '', stroke: 'none', 'stroke-width': '', 'stroke-opacity': '1', 'stroke-dasharray': 'none', 'stroke-linecap': 'butt',
  'stroke-linejoin': 'miter', 'paint-order': 'normal',
};
const WRITTEN = { 'font-size': '', 'font-weight': '400', 'text-anchor': 'start' };
const PLACED = ['d', 'x', 'y', 'dx', 'dy', 'width', 'height', 'rx', 'transform'];
const SANS = 'ui-sans-serif, system-ui, sans-serif';
const LARGEST_SIDE = 8192; // pixels a canvas can surely have

export function pictureOf(element, caption) {
  const $ = finder(element), make = (name, attributes, text) => draw(name, attributes, null, text === undefined ? undefined : xmlText(text));
  const canvas = $('svg').firstElementChild, box = canvas.getBBox();
  const ink = colour(getComputedStyle($('canvas')).color), paper = colour(getComputedStyle($('canvas')).backgroundColor);
  const size = parseFloat(getComputedStyle(document.documentElement).fontSize), margin = 1.2 * size, line = 1.7 * size;
  const top = margin + 1.4 * line, width = sizes => Math.ceil(Math.max(...sizes) + 2 * margin);

  const tree = plainCopy(canvas);
  tree.setAttribute('transform', `translate(${margin - box.x} ${top - box.y})`);
  tree.setAttribute('font-family', getComputedStyle($('svg')).fontFamily);
  const words = make('g', { fill: ink, 'font-family': SANS, 'font-size': 0.9 * size });
  words.append(make('text', { x: margin, y: margin + 0.8 * size }, caption));

  const ruler = pen(), widths = [];
  let row = top + box.height;
  ruler.font = `${0.9 * size}px ${SANS}`;
  for (const legend of ['.sv-legend > :is([data-letter], .sv-last):not([hidden])', '.sv-whose:not([hidden]) > span']) {
    const items = element.querySelectorAll(legend);
    let x = margin;
    if (items.length) row += line;
    for (const item of items) {
      const mark = make('g', { transform: `translate(${x + 7} ${row})` });
      mark.append(plainCopy(item.querySelector('path')));
      const text = item.textContent.trim().replace(/\s+/g, ' ');
      words.append(mark, make('text', { x: x + 1.4 * size, y: row + 0.32 * size }, text));
      x += ruler.measureText(text).width + 3 * size;
    }
    widths.push(x - 2 * margin);
  }

  const wide = width([box.width, ...widths, 1.1 * ruler.measureText(caption).width]), high = Math.ceil(row + line);
  const root = make('svg', { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high });
  root.append(make('title', {}, caption), make('rect', { width: wide, height: high, fill: paper }), tree, words);
  return { text: new XMLSerializer().serializeToString(root), wide, high };
}

export function plainCopy(node) {
  const copy = draw(node.localName), style = getComputedStyle(node);
  for (const name of PLACED) if (node.hasAttribute(name)) copy.setAttribute(name, node.getAttribute(name));
  if (node.localName !== 'g') {
    for (const [name, usual] of Object.entries(node.localName === 'text' ? { ...DRAWN, ...WRITTEN } : DRAWN)) {
      const value = style.getPropertyValue(name);
      if (value && value !== usual) copy.setAttribute(name, name === 'fill' || name === 'stroke' ? colour(value) : value);
    }
  }
  for (const child of node.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) copy.append(xmlText(child.data));
    else if (!child.classList.contains('hit')) copy.append(plainCopy(child));
  }
  return copy;
}

// Mixed colours are written in a way that only browsers know; as a pixel every colour is three numbers.
function colour(value) {
  if (value === 'none' || /^(#|rgb\()/.test(value)) return value;
  const paint = pen();
  paint.fillStyle = value;
  paint.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = paint.getImageData(0, 0, 1, 1).data;
  return alpha ? `rgb(${red}, ${green}, ${blue})` : 'none';
}

// XML has no place for some characters that a token may hold.
export function xmlText(text) {
  return text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd');
}

export async function png(picture) {
  const address = URL.createObjectURL(new Blob([picture.text], { type: 'image/svg+xml' })), image = new Image();
  try {
    image.src = address;
    await image.decode();
  } finally {
    URL.revokeObjectURL(address);
  }
  const scale = Math.min(2, LARGEST_SIDE / picture.wide, LARGEST_SIDE / picture.high);
  const paint = pen(picture.wide * scale, picture.high * scale);
  paint.drawImage(image, 0, 0, paint.canvas.width, paint.canvas.height);
  return new Promise(done => paint.canvas.toBlob(done, 'image/png'));
}
