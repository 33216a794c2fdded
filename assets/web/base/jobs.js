// What this visitor started and may stop. Only the page can know it, which sees a click before the line on the server does.

/** @type {Map<string, { stop: string, state: 'asked' | 'stopping' }>} */
const jobs = new Map();

const watched = new WeakSet();

/**
 * Sees to it that a click on a Stop counts at once: gradio runs the click's event only when it gets to it, and under load
 * the end of the job that it cancels comes first.
 * @param {string} stop its id
 */
export function stopsAtOnce(stop) {
  const button = document.getElementById(stop);
  if (!button || watched.has(button)) return;
  watched.add(button);
  button.addEventListener('click', () => {
    for (const one of jobs.values()) if (one.stop === stop) one.state = 'stopping';
  }, true);
}

/**
 * How a job stood before the news, and whether its Stop is lit now: while any job that shares it may still be stopped.
 * A job that is being stopped stays so until it has ended; asked for again meanwhile, gradio takes no further click.
 * @param {string} job
 * @param {string} stop the id of its Stop
 * @param {'asked' | 'stopping' | 'ended'} news
 */
export function jobNews(job, stop, news) {
  const was = jobs.get(job)?.state;
  if (news === 'ended') jobs.delete(job);
  else if (news === 'asked' ? !was : was) jobs.set(job, { stop, state: news });
  return { was, lit: [...jobs.values()].some(one => one.stop === stop && one.state === 'asked') };
}
