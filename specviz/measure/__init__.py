"""What is measured of acceptance: on a text, on its nodes, along it, in recorded runs."""
