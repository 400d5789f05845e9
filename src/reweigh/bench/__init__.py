"""Measurements behind `reweigh bench`, one subject per file."""
