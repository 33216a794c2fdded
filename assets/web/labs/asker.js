// Requests to the server about what was set last: after a pause, and without the answers to older
// ones.

const SILENCE = 'The server did not answer. Change any value to try again.';

/**
 * @param {HTMLElement} root is busy until the last request is answered
 * @param {() => Promise<string>} request an answer as JSON, or {"error": a sentence}
 * @param {(answer: any, stale: () => boolean) => void | Promise<void>} show once `stale`, nothing
 *   of the answer is shown any more
 * @param {(text: string) => void} failed
 * @returns {(wait?: number) => void} requests after so many milliseconds
 */
export function asker(root, request, show, failed) {
  let latest = 0,
    timer = 0;

  /** @param {() => boolean} stale */
  async function ask(stale) {
    const answer = JSON.parse(await request());
    if (stale()) return;
    if (answer.error === undefined) await show(answer, stale);
    else failed(answer.error);
  }

  return (wait = 0) => {
    const number = ++latest,
      stale = () => number !== latest;
    root.setAttribute('aria-busy', 'true');
    clearTimeout(timer);
    timer = setTimeout(async () => {
      await ask(stale).catch(() => {
        if (!stale()) failed(SILENCE);
      });
      if (!stale()) root.setAttribute('aria-busy', 'false');
    }, wait);
  };
}
