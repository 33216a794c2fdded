"""Draft heads that read hidden states of the target: Medusa, EAGLE, EAGLE-3 and a block drafter."""
