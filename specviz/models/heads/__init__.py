"""Draft heads that read hidden states of the target: Medusa, EAGLE and EAGLE-3."""
