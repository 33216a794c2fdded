// How the parts of the page tell each other something: a message goes to all who listen for its
// name. Where none does yet (a tab that was never opened is not there), it waits for the first who
// will; what holds until the next message of its name waits for all.

/** @typedef {(message: any) => void} Listen what it takes depends on the name it is kept under */

/** @type {Map<keyof Messages, { element: Element, listen: Listen }[]>} */
const listeners = new Map();
/** @type {Map<keyof Messages, Messages[keyof Messages]>} */
const waiting = new Map();

const HOLDS = 'settings';

const connected = (/** @type {keyof Messages} */ name) =>
  (listeners.get(name) || []).filter(({ element }) => element.isConnected);

/**
 * @template {keyof Messages} Name
 * @param {Name} name
 * @param {Messages[Name]} message
 */
export function publish(name, message) {
  const heard = connected(name);
  if (!heard.length || name === HOLDS) waiting.set(name, message);
  for (const { listen } of heard) listen(message);
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
  if (!waiting.has(name)) return;
  const message = /** @type {Messages[Name]} */ (waiting.get(name));
  if (name !== HOLDS) waiting.delete(name);
  listen(message);
}
