"""What is accepted: vectors, and how they are measured on texts, on nodes and in recorded runs."""
