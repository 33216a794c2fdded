"""What a step costs, what a tree will bring, and which one to choose. No clock is read here."""
