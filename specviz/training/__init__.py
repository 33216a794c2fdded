"""How a pair like the embedded one is made: `train_pair` in pair.py; Medusa's heads and EAGLE's
layer in heads.py, an EAGLE-3 head in eagle3.py."""
