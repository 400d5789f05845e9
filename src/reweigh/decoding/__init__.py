"""From source sentences to the best translations that a model knows."""
