// Requests to the server about what was set last: after a pause, and without the answers to older
// ones.

/**
 * @param {HTMLElement} root is busy until the last request is answered
 * @param {(stale: () => boolean) => Promise<void>} work requests and shows; once `stale`, the
 *   answer is not shown any more
 * @param {(text: string) => void} failed
 * @returns {(wait?: number) => void} requests after so many milliseconds
 */
export function asker(root, work, failed) {
  let latest = 0,
    timer = 0;
  return (wait = 0) => {
    const number = ++latest,
      stale = () => number !== latest;
    root.setAttribute('aria-busy', 'true');
    clearTimeout(timer);
    timer = setTimeout(async () => {
      await work(stale).catch(() => {
        if (!stale()) failed('The server did not answer. Change any value to try again.');
      });
      if (!stale()) root.setAttribute('aria-busy', 'false');
    }, wait);
  };
}
