// What the server sends of a run. Made from specviz/player/wire.py: python -m specviz.player.wire

/** A few tokens and, under every name, a number for each of them: what is drawn as bars. */
export interface Chart {
  tokens: number[];
  rows: Record<string, number[]>;
  texts: string[];
}

/** Details of one node, recorded by a rule. */
export interface Detail {
  tried?: Chart;
  after?: Chart;
  race?: Record<string, Chart>;
  facts?: Record<string, number>;
}

/** The best of the candidates that a builder left out. */
export interface Cut {
  texts: string[];
  keys: number[];
}

/** How a tree grew, as far as its builder recorded it. */
export interface Growth {
  keys?: (number | null)[];
  waiting?: [number, number][][];
  split?: number[];
  cut?: Cut;
  candidates?: number;
  expected?: number;
  length?: number;
}

/** One pass of the target: the tree that was drafted, and what the rule made of it, in columns over its nodes.

 * `outcome` has one letter a node: r root, a accepted, x rejected, u never reached, p passed over, o a probe. `why`
 * says which of the sentences is a node's own, `own` is the target's own token and `last` what it is; `drafter` says
 * whose guess a node was, null for the root and where a builder guessed. */
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
  outcome: string;
  sentences: string[];
  why: number[];
  detail: Record<string, Detail>;
  growth: Growth;
  scheme: string;
  pieces: string[];
  own: number | null;
  last: 'bonus' | 'correction' | null;
  draft_passes: number;
  drafter: (string | null)[];
}

/** How often a drafter was right, over a run. */
export interface Right {
  accepted: number;
  compared: number;
  acceptance: number | null;
}

/** A run in numbers, null where there is nothing to divide by.

 * Parts are in the order of PARTS, drafters by name. */
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
  drafters: Record<string, Right>;
}

/** What is said about a run once, at its start. */
export interface Head {
  title: string;
  pair: string;
  prompt: string;
  lossy: string | null;
  key: string;
  rule: string;
  leaves_first: boolean;
  settings: string;
  recorded?: boolean;
  badge?: string;
  show?: number;
}

/** A run against plain decoding, timed in alternating rounds. */
export interface PairedSpeedup {
  speedup: number;
  low: number;
  high: number;
  rounds: number;
  tokens_per_s: number;
  plain_tokens_per_s: number;
  seconds: number;
  plain_seconds: number;
  date: string;
  machine: string;
}
