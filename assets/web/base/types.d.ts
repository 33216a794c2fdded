// What the server sends of everything but a run (run.d.ts), and what the browser makes of it. Known
// in every module.

/** The same within its run, with what the browser adds. */
interface Step extends Sent {
  /** The accepted nodes from the root down. */
  path: number[];
}

/** One message about a run; a new name begins a new history. */
interface Message {
  run: string;
  steps: Sent[];
  head?: Head;
  /** The title of the pair in the menu. */
  models?: string;
  /** Where its weights are, as the menu names it. */
  weights?: string;
  state?: 'loading' | 'running' | 'done' | 'stopped' | 'error';
  note?: string;
  /** The share of the loading that is done. */
  done?: number;
  /** The check sum of its text, once it is whole. */
  sum?: string;
  figures?: Figures;
  /** Against plain decoding, timed in turns. */
  speedup?: PairedSpeedup;
  /** How many rounds of plain decoding in turns with the run, which is whole by then. */
  timing?: { done: number; of: number };
  same?: { kind: string; text: string };
  /** The step that is worth showing: to go to, unless the visitor has moved. */
  show?: number;
}

/** A function of the server; it takes one argument. */
type Ask = (asked: unknown) => Promise<string>;

/** Its answer, once parsed, or a sentence on why there is none. */
type Answer<Data> = (Data & { error?: undefined }) | { error: string };

/** A node of a run that is taken into the Verification lab. */
interface Taken {
  /** What the run drew there. */
  drawn: import('../labs/types.js').Run;
  names: string[];
  p: number[];
  q: number[];
  scheme: string;
  /** Whether the last token stands for all others. */
  rest: boolean;
  children: number;
}

/**
 * What the controls of Explore hold, without the prompt: as the parameters of a link, and the
 * title of the pair.
 */
interface Held {
  settings: string;
  models: string;
  weights: string;
}

/** The sentence about a run, in three parts. */
interface Headline {
  strong: string;
  text: string;
  small: string;
  /** The share of the loading that is done. */
  done?: number;
  /** Whether it is slower than plain decoding. */
  slow?: boolean;
  /** Whether its weights are in memory, where they were to be read from disk. */
  inMemory?: boolean;
  /** That the controls hold something else by now; "" where they do not. */
  stale: string;
}

/** What the parts of the page may tell each other, by name. */
interface Messages {
  headline: Headline;
  settings: Held;
  /**
   * The controls are to hold the settings of a run that was opened, or of a button that fixes
   * them.
   */
  opened: { search: string };
  /** Another tab is to be shown, by its name in links. */
  'open-tab': string;
  /** A node for that lab, by which rule it was decided and where. */
  node: Taken & { rule?: string; from: string };
}
