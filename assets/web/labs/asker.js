// One question to the server at a time, always about what was set last.

/**
 * @param {HTMLElement} root is busy until the last question is answered
 * @param {(stale: () => boolean) => Promise<void>} work asks and shows; once `stale`, the answer is not wanted any more
 * @param {(text: string) => void} failed
 * @returns {(wait?: number) => void} asks after so many milliseconds
 */
export function asker(root, work, failed) {
  let busy = false, again = false, unread = false, timer = 0;

  async function ask() {
    busy = true;
    do {
      again = unread = false;
      await work(() => again).catch(() => failed('The server did not answer. Change any value to try again.'));
    } while (again);
    busy = false;
    if (!unread) root.setAttribute('aria-busy', 'false');
  }

  return (wait = 0) => {
    unread = true;
    root.setAttribute('aria-busy', 'true');
    clearTimeout(timer);
    timer = setTimeout(() => { if (busy) again = true; else ask(); }, wait);
  };
}
