"""Sentence pairs: read, cut into words and pieces, numbered, batched, scored."""
