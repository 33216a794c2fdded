// How the parts of the page tell each other something: a message goes to all who listen for its name. Where nobody
// does yet (a tab that was never opened is not there), it waits for the first who will.

/** @type {Map<string, { element: Element, listen: (message: any) => void }[]>} */
const listeners = new Map();
/** @type {Map<string, any>} */
const waiting = new Map();

const there = (/** @type {string} */ name) => (listeners.get(name) || []).filter(({ element }) => element.isConnected);

/** @param {string} name @param {any} [message] */
export function tell(name, message) {
  const heard = there(name);
  if (!heard.length) waiting.set(name, message);
  for (const { listen } of heard) listen(message);
}

/**
 * Listens as long as the element is on the page.
 * @param {string} name
 * @param {Element} element
 * @param {(message: any) => void} listen
 */
export function hear(name, element, listen) {
  listeners.set(name, [...there(name), { element, listen }]);
  if (!waiting.has(name)) return;
  const message = waiting.get(name);
  waiting.delete(name);
  listen(message);
}
