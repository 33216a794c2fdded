// Accepted tokens slide from the tree into the text.

const LASTS = 520; // milliseconds

/**
 * @param {HTMLElement} element
 * @param {HTMLElement[]} spans tokens that are new in the text
 * @param {(key: string) => DOMRect | null} place where a node stands on the screen
 */
export function fly(element, spans, place) {
  for (const span of spans) {
    const from = place(span.dataset.key ?? ''),
      to = span.getBoundingClientRect();
    if (!from || !to.width || !span.animate) continue;
    const copy = /** @type {HTMLElement} */ (span.cloneNode(true));
    copy.classList.add('sv-flying');
    Object.assign(copy.style, { left: `${to.left}px`, top: `${to.top}px` });
    element.append(copy);
    const way = copy.animate(
      [
        {
          transform: `translate(${from.left + 14 - to.left}px, ${from.top - to.top}px)`,
          opacity: 0.4,
        },
        { transform: 'none', opacity: 1 },
      ],
      { duration: LASTS, easing: 'ease-in-out' },
    );
    way.onfinish = way.oncancel = () => copy.remove();
  }
}
