"""Fictional worlds, consistent with themselves: the same on every machine, without a clock and without randomness."""
