"""Short-term memory of a walk, long-term memory of solved requests."""
