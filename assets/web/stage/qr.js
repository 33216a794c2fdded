// The QR code of a link, large enough for the last row of a class.

import { query, queryAll } from '../base/dom.js';

const LOCAL = /^(localhost|127\..*|\[::1\])$/; // hosts that are this machine, whoever asks

/**
 * Shows a code over the page until it is closed.
 * @param {HTMLDialogElement} dialog
 * @param {string} image its address
 * @param {string} link
 */
export function showCode(dialog, image, link) {
  const [address, warning] = queryAll(dialog, 'p');
  Object.assign(query(dialog, 'img'), { src: image, alt: link });
  address.textContent = link;
  warning.textContent = LOCAL.test(new URL(link).hostname)
    ? 'Only this machine can open this link: the page has a local address.'
    : '';
  dialog.onkeydown = event => event.stopPropagation(); // Escape closes it alone
  dialog.showModal();
}
