// Hears whatever a visitor turns in a rail: sliders, boxes and switches, not what the page sets itself.

const QUIET = 100; // milliseconds without a change until it is told; by then the controls hold what was typed

/** @param {Element} element in the rail @param {string} besides the id of what does not count @param {() => void} told */
export function hearRail(element, besides, told) {
  const rail = /** @type {HTMLElement} */ (element.closest('.sv-rail'));
  let waiting = 0;

  /** @param {Event} event */
  function heard({ target }) {
    if (/** @type {Element} */ (target).closest(`#${besides}`)) return;
    clearTimeout(waiting);
    waiting = window.setTimeout(told, QUIET);
  }

  rail.addEventListener('input', heard);
  // Two changes that gradio makes without one: a number out of range comes back into it when its box is left, and a
  // slider has a button that resets it.
  rail.addEventListener('focusout', event => { if (/** @type {HTMLInputElement} */ (event.target).type === 'number') heard(event); });
  rail.addEventListener('click', event => { if (/** @type {Element} */ (event.target).closest('.reset-button')) heard(event); });
}
