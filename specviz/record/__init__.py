"""What happened: a step, a run, its metrics, and acceptance vectors."""
