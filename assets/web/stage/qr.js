// The QR code of a link, large enough for the last row of a class.

import { button, makeSvg, make } from '../base/dom.js';

const LOCAL = /^(localhost|127\..*|\[::1\])$/; // hosts that are this machine, whoever asks

/**
 * Shows a code over the page until it is closed.
 * @param {HTMLElement} element
 * @param {string[]} rows of 0 and 1
 * @param {string} link
 */
export function showCode(element, rows, link) {
  const size = rows.length + 8; // with the border that readers need
  const svg = makeSvg('svg', { viewBox: `-4 -4 ${size} ${size}`, role: 'img', 'aria-label': link });
  makeSvg('rect', { x: -4, y: -4, width: size, height: size, fill: '#fff' }, svg);
  const squares = rows.flatMap((row, y) =>
    [...row].flatMap((square, x) => (square === '1' ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  makeSvg('path', { d: squares.join(''), fill: '#000' }, svg);
  const isLocal = LOCAL.test(new URL(link).hostname);
  const warning = 'Only this machine can open this link: the page has a local address.';
  const close = button('Close', () => dialog.close());
  const parts = [svg, make('p', link), make('p', isLocal ? warning : ''), close];
  const dialog = make('dialog', parts, 'sv-qr sv-ui');
  dialog.addEventListener('keydown', event => event.stopPropagation()); // Escape closes it alone
  dialog.onclose = () => dialog.remove();
  element.append(dialog);
  dialog.showModal();
}
