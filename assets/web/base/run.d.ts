// What the server sends of a run, as specviz/view/payload.py writes it. Known in every module.

/** A few tokens and, under every name, a number for each of them. */
interface Chart {
  tokens: number[];
  rows: Record<string, number[]>;
  texts: string[];
}

/** What a rule recorded about one node. */
interface Detail {
  tried?: Chart;
  after?: Chart;
  race?: Record<string, Chart>;
  facts?: Record<string, number>;
}

/** How a tree grew, as far as its builder recorded it. */
interface Growth {
  keys?: (number | null)[];
  /** For each node after the root, the best slots [parent, key] that were left. */
  waiting?: [number, number][][];
  /** The sizes of subtrees. */
  split?: number[];
  cut?: { texts: string[]; keys: number[] };
  candidates?: number;
  expected?: number;
  cost?: number;
  length?: number;
}

/**
 * One pass of the target: the drafted tree and what the rule made of it, in columns over its
 * nodes.
 */
interface Sent {
  index: number;
  parents: number[];
  tokens: number[];
  texts: string[];
  p: (number | null)[];
  q: (number | null)[];
  accept: (number | null)[];
  /** The nodes in the order in which the rule tried them. */
  order: number[];
  /** The uniform draw of each node. */
  coin: (number | null)[];
  /**
   * What became of each node: root, accepted, rejected, unreached, passed (accepted too, but the
   * rule took a longer path), probe (never compared, asks the target for its next token).
   */
  outcome: string[];
  sentences: string[];
  /** Which of the sentences is a node's own. */
  why: number[];
  detail: Record<string, Detail>;
  growth: Growth;
  scheme: string;
  pieces: string[];
  /** The target's own token, and what it is. */
  own: number | null;
  last: 'bonus' | 'correction' | null;
  draft_passes: number;
  /** Who drafted a node; null for the root and where a builder did. */
  drafter: (string | null)[];
}

/**
 * A run in numbers, null where there is nothing to divide by; the same in words, rows with a name,
 * a value and a note; and how often each drafter was right, in words.
 */
interface Figures {
  tokens: number;
  passes: number;
  per_pass: number | null;
  rate: number | null;
  drafters: Record<string, string>;
  table: [string, string, string][];
}

/** What is sent of a run once, at its start. */
interface Head {
  title: string;
  pair: string;
  prompt: string;
  /** Whether it is a message to a chat model, which answers it. */
  chat?: boolean;
  lossy: string | null;
  key: string;
  rule: string;
  settings: string;
  /** Whether the rule itself declares that it is exact, and nobody proved it here. */
  declared?: boolean;
  /** Where the target's weights are read from for every pass. */
  offload?: string;
  /** Why they are in memory, where they were to be read from disk. */
  in_memory?: string;
  recorded?: boolean;
  badge?: string;
}

/** A run against plain decoding, timed in alternating rounds. */
interface PairedSpeedup {
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
