// What belongs to the whole page: listeners that end with the element they serve, and where a file may be dropped.

/**
 * @param {Element} element
 * @param {string} kind
 * @param {(event: any) => void} listen
 * @param {EventTarget} [target]
 */
export function onPage(element, kind, listen, target = document) {
  /** @param {Event} event */
  function heard(event) {
    if (element.isConnected) listen(event);
    else target.removeEventListener(kind, heard);
  }
  target.addEventListener(kind, heard);
}
