"""The machine behind the page: its pairs, one run at a time, the line before it and what may be asked of it."""
