"""The machine behind the page: its pairs, one run at a time, the queue and the limits."""
