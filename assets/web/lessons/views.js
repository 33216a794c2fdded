// The views of lessons, by the name that the lesson's module gives.

export const VIEWS = {};
