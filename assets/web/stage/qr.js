// The QR code of a link, large enough for the last row of a class.

import { query, queryAll } from '../base/dom.js';

const LOCAL = /^(localhost|127\..*|\[::1\])$/; // hosts that are this machine, whoever asks

/**
 * Shows a code over the page until it is closed.
 * @param {HTMLDialogElement} dialog
 * @param {string[]} rows of 0 and 1
 * @param {string} link
 */
export function showCode(dialog, rows, link) {
  const svg = query(dialog, 'svg');
  const [address, warning] = queryAll(dialog, 'p');
  const squares = rows.flatMap((row, y) =>
    [...row].flatMap((square, x) => (square === '1' ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  const size = rows.length + 8; // with the border that readers need
  svg.setAttribute('viewBox', `-4 -4 ${size} ${size}`);
  svg.setAttribute('aria-label', link);
  query(svg, 'path').setAttribute('d', squares.join(''));
  address.textContent = link;
  warning.textContent = LOCAL.test(new URL(link).hostname)
    ? 'Only this machine can open this link: the page has a local address.'
    : '';
  dialog.onkeydown = event => event.stopPropagation(); // Escape closes it alone
  dialog.showModal();
}
