// A page without a browser for the unit tests: elements, events, and what layout would say as far
// as a test sets it.

import { parseHTML } from 'linkedom';

export function freshPage(html = '') {
  const { window, document } = parseHTML(`<html><body>${html}</body></html>`);
  const wide = text =>
    [...text].reduce((sum, letter) => sum + (letter.codePointAt(0) > 0x2e7f ? 16 : 8), 0);
  window.HTMLCanvasElement.prototype.getContext = () => ({
    font: '',
    measureText: text => ({ width: wide(text) }),
  });
  window.Element.prototype.getClientRects = function rects() {
    return document.contains(this) ? [1] : [];
  };
  window.Element.prototype.getBoundingClientRect = () => ({
    left: 0,
    top: 0,
    width: 800,
    height: 400,
  });
  window.Element.prototype.setPointerCapture = () => {};
  window.Element.prototype.scrollTo = window.Element.prototype.scrollBy = () => {};
  Object.assign(globalThis, {
    window,
    document,
    wide,
    Node: window.Node,
    HTMLElement: window.HTMLElement,
    HTMLInputElement: window.HTMLInputElement,
    getComputedStyle: () => ({
      fontSize: '16px',
      fontFamily: 'mono',
      maxHeight: 'none',
      getPropertyValue: () => '',
    }),
    requestAnimationFrame: draw => draw(0),
    ResizeObserver: class {
      observe() {}
    },
    matchMedia: () => ({ matches: false }),
  });
  return document;
}

// An <svg> in a box of a known size.
export function canvas(document, clientWidth = 1000, clientHeight = 400) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg'),
    box = document.createElement('div');
  Object.defineProperties(box, {
    clientWidth: { value: clientWidth },
    clientHeight: { value: clientHeight },
  });
  box.append(svg);
  document.body.append(box);
  return svg;
}

export function fire(target, kind, more = {}) {
  const event = new globalThis.window.Event(kind, { bubbles: true, cancelable: true });
  Object.assign(event, { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...more });
  target.dispatchEvent(event);
  return event;
}

const WORDS = {
  r: 'root',
  a: 'accepted',
  x: 'rejected',
  u: 'unreached',
  p: 'passed',
  o: 'probe',
};

// Outcomes from one letter a node.
export const outcomes = letters => [...letters].map(letter => WORDS[letter]);

// A step of a run: parents, one outcome letter a node, and whatever else a test is about.
export function step(parents, letters, more = {}) {
  const n = parents.length,
    blank = new Array(n).fill(null);
  return {
    index: 0,
    parents,
    outcome: outcomes(letters),
    tokens: parents.map((_, i) => i),
    texts: parents.map((_, i) => `t${i}`),
    p: blank,
    q: blank,
    accept: blank,
    coin: blank,
    sentences: ['why'],
    why: new Array(n).fill(0),
    detail: {},
    growth: {},
    scheme: 'iid',
    path: [...letters].flatMap((letter, i) => (letter === 'a' ? [i] : [])),
    order: [...letters].flatMap((letter, i) => ('axp'.includes(letter) ? [i] : [])),
    pieces: ['p'],
    own: null,
    last: null,
    draft_passes: 1,
    ...more,
  };
}
