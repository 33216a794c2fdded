// What the server sends to the lessons, as app/tabs/lessons writes it.

/** Text, or an element with what is in it. */
export type Part =
  | string
  | { tag: keyof HTMLElementTagNameMap; attrs: Record<string, string>; parts: Part[] };

/** A place in the pictures of a lesson. */
export interface Place {
  picture: number;
  /** Of a figure: how far it is. */
  step: number;
  node: number | string | null;
}

/** A recorded run, or a figure with the data that it draws. */
export type Picture =
  | { label: string; message: Message; name?: undefined; data?: undefined; steps?: undefined }
  | {
      label: string;
      name: 'race' | 'times' | 'lossy';
      data: unknown;
      /** How many steps the arrows go through. */
      steps: number;
      message?: undefined;
    };

export interface Lesson {
  title: string;
  sentence: string;
  /** Of the pictures from the first on that is shown. */
  examples: string[];
  body: Part[];
  /** Of the exercise. */
  task: Part[];
  answer: Part[];
  /** What is folded, by its heading. */
  folds: [string, Part[]][];
  opens: Place;
  shows: Place;
  pictures: Picture[];
}

/** What the page starts with: name and title of every lesson, and what older links call them. */
export interface Start {
  lessons: [string, string][];
  old: Record<string, string>;
}

/** What draws a figure in a box at a step, and says which other step the visitor has reached. */
export type Figure = (
  box: HTMLElement,
  data: any,
  step: number,
  reach: (step: number) => void,
) => void;

/** Two races with one noise, by how wrong the draft is; the first draft is the target itself. */
export interface Races {
  tokens: string[];
  /** Of each token, drawn from the exponential distribution. */
  noise: number[];
  drafts: { error: number; row: number[]; equal: string }[];
}

/** A quantity by the nodes of a tree, a curve for each place of the weights. */
export interface Times {
  y: string;
  curves: { label: string; points: [number, number][]; best: [number, number] }[];
}

/** A rule in words, whether it is exact, and a sentence about it for each tree. */
export interface JudgedRule {
  words: string;
  exact: boolean;
  verdicts: Record<string, string>;
}
