// How the parts of the page tell each other something: a message goes to all who listen for its
// name, and the last of a name to who listens later, as a tab that opens for the first time does.

/** @typedef {(message: any) => void} Listen what it takes depends on the name it is kept under */

/** @type {Map<keyof Messages, { element: Element, listen: Listen }[]>} */
const listeners = new Map();
/** @type {Map<keyof Messages, Messages[keyof Messages]>} */
const last = new Map();

/** @param {keyof Messages} name */
const connected = name =>
  (listeners.get(name) || []).filter(({ element }) => element.isConnected);

/**
 * @template {keyof Messages} Name
 * @param {Name} name
 * @param {Messages[Name]} message
 */
export function publish(name, message) {
  last.set(name, message);
  for (const { listen } of connected(name)) listen(message);
}

/**
 * Listens as long as the element is on the page.
 * @template {keyof Messages} Name
 * @param {Name} name
 * @param {Element} element
 * @param {(message: Messages[Name]) => void} listen
 */
export function subscribe(name, element, listen) {
  listeners.set(name, [...connected(name), { element, listen }]);
  if (last.has(name)) listen(/** @type {Messages[Name]} */ (last.get(name)));
}
