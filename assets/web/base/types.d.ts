// What the server sends, as specviz/player/payload.py writes it. Columns have one entry for each node.

/** A row of numbers over a few tokens, or several under their names. */
export interface Chart {
  tokens: number[];
  texts: string[];
  rows: Record<string, number[]>;
}

/** What a rule kept about a node. */
export interface Detail {
  tried?: Chart;
  after?: Chart;
  race?: Record<string, Chart>;
  facts?: Record<string, number>;
}

/** How a tree grew, as far as its builder recorded it. */
export interface Growth {
  keys?: (number | null)[];
  waiting?: [number, number][][];
  split?: number[];
  cut?: { texts: string[]; keys: number[] };
  candidates?: number;
  expected?: number;
  length?: number;
}

/** One pass of the target as it is sent: the tree that was drafted, and what the rule made of it. */
export interface Sent {
  index: number;
  parents: number[];
  tokens: number[];
  texts: string[];
  p: (number | null)[];
  q: (number | null)[];
  plain: (number | null)[];
  accept: (number | null)[];
  coin: (number | null)[];
  /** One letter a node: r root, a accepted, x rejected, u not visited, p passed over, o a probe. */
  outcome: string;
  sentences: string[];
  /** For each node, which of the sentences is its own. */
  why: number[];
  detail: Record<string, Detail>;
  growth: Growth;
  scheme: string;
  pieces: string[];
  own: number | null;
  /** What the target's own token is. */
  last: 'bonus' | 'correction' | null;
  draft_passes: number;
  /** Whose guess each node was; null for the root and where a builder guessed. */
  drafter?: (string | null)[];
}

/** The same within its run, with what the browser adds. */
export interface Step extends Sent {
  /** The accepted nodes from the root down. */
  path: number[];
  /** What is known of all drafters of its run so far. */
  guessed: Guesses;
}

/** How many nodes a drafter guessed, and how many it got right. */
export interface Count {
  nodes: number;
  accepted: number;
}

/** How often a drafter was right, over a run. */
export interface Right {
  accepted: number;
  compared: number;
  acceptance: number | null;
}

/** By the name of a drafter, in the order in which they first guessed. */
export type Guesses = Map<string, Count>;

/** What is said about a run once, at its start. */
export interface Head {
  title: string;
  pair: string;
  prompt: string;
  lossy: string | null;
  key: string;
  rule: string;
  recorded?: boolean;
  badge?: string;
  show?: number;
}

/** A run in numbers, null where there is nothing to divide by; parts are in the order of PARTS. */
export interface Figures {
  tokens: number;
  passes: number;
  accepted: number;
  compared: number;
  per_pass: number | null;
  acceptance: number | null;
  rate: number | null;
  token_ms: number | null;
  step_ms: number | null;
  token_parts: (number | null)[];
  step_parts: (number | null)[];
  /** By the name of a drafter. */
  drafters: Record<string, Right>;
}

/** One message about a run; a new name begins a new history. */
export interface Message {
  run: string;
  steps: Sent[];
  head?: Head;
  state?: 'loading' | 'running' | 'done' | 'stopped' | 'error';
  note?: string;
  figures?: Figures;
  /** Against plain decoding; what rounds say only where it was timed in turns. */
  speedup?: { speedup: number; plain_tokens_per_s: number } & ({ rounds?: undefined } | { rounds: number; low: number; high: number; tokens_per_s: number });
  /** How many rounds of plain decoding in turns with the run, which is whole by then. */
  timing?: { done: number; of: number };
  same?: { kind: string; text: string };
}

/** A function of the server; it takes one argument. */
export type Ask = (asked: unknown) => Promise<string>;

/** A node of a run that is taken into the Verification lab. */
export interface Taken {
  names: string[];
  p: number[];
  q: number[];
  scheme: string;
  /** Whether the last token stands for all others. */
  rest: boolean;
  children: number;
  /** How many children the node had. */
  drafted: number;
}

/** What the parts of the page may tell each other, by name. */
export interface Messages {
  /** The page's type was made larger or smaller. */
  type: void;
  /** The lab that waits on its tab is to be shown. */
  'open-lab': void;
  /** A node for that lab, by which rule it was decided and where. */
  node: Taken & { rule?: string; from: string };
}
