// The words of the page. Made from specviz/player/words.py: python -m specviz.player.words

// OUTCOMES: by letter, and the target's own tokens
/** @type {Record<string, string>} */
export const OUTCOMES = {
  "r": "last token",
  "a": "accepted",
  "x": "rejected",
  "u": "not visited",
  "p": "passed over",
  "o": "probe",
  "bonus": "bonus",
  "correction": "correction"
};

// OWN: descriptions of those
/** @type {Record<string, string>} */
export const OWN = {
  "bonus": "The tree ends here, so the target adds a token of its own at no extra pass.",
  "correction": "No child was accepted here, so the target writes the next token itself."
};

// MARKS: signs in a line of text
/** @type {Record<string, string>} */
export const MARKS = {
  "accepted": "■",
  "rejected": "✕",
  "passed": "△",
  "waiting": "○",
  "bonus": "◆",
  "correction": "◆"
};

// ROWS: of a chart
/** @type {Record<string, string>} */
export const ROWS = {
  "p": "target p",
  "q": "draft q",
  "draft": "remaining draft",
  "residual": "residual",
  "written": "written"
};

// FACTS: numbers that a rule keeps
/** @type {Record<string, string>} */
export const FACTS = {
  "rho": "ρ",
  "beta": "β",
  "ratio": "running ratio",
  "threshold": "threshold"
};

// PARTS: of a step's time
export const PARTS = [
  "draft",
  "target",
  "verify",
  "other"
];

// DRAWN: children are ...
/** @type {Record<string, string>} */
export const DRAWN = {
  "iid": "drawn independently from the draft, duplicates kept",
  "distinct": "drawn from the draft without replacement",
  "top": "the draft's most probable tokens, not draws",
  "race": "the first arrivals of a race shared with the target"
};

// SCHEMES: the same in a table
/** @type {Record<string, string>} */
export const SCHEMES = {
  "iid": "independent",
  "distinct": "without replacement",
  "top": "most probable",
  "race": "shared race"
};

// GLOSSARY: terms that explain themselves
/** @type {Record<string, string>} */
export const GLOSSARY = {
  "p": "The target's probability of a token after the tokens before it.",
  "q": "The draft's probability of a token after the tokens before it; children are drawn from it.",
  "residual": "p − q for every token, 0 where that is negative, normalised to sum 1. After a rejection the next child is compared with it, or the target draws from it.",
  "bonus token": "The token that the target adds where a whole branch was accepted. It costs no further pass.",
  "acceptance vector": "The probability that the first child of a node is accepted, that the second is, and so on. Its sum is the probability that any child is accepted.",
  "tokens per target pass": "Tokens written per pass of the target, its own token included. Plain decoding writes 1.",
  "tokens per pass": "Tokens written per pass of the target, its own token included. Plain decoding writes 1.",
  "lossless": "The text follows exactly the distribution of the target alone, whatever the draft proposes."
};

// DRAFTERS: who guesses, in the order of the menu
/** @type {Record<string, string>} */
export const DRAFTERS = {
  "model": "Draft model",
  "early-exit": "Early exit",
  "layer-skip": "Skipped layers",
  "medusa": "Medusa heads",
  "eagle": "EAGLE",
  "ngram": "n-grams",
  "retrieval": "Retrieval",
  "several": "Several drafters",
  "cascade": "Cascade",
  "staged": "Staged draft",
  "online": "Learning draft"
};
