"""The tool graph: facts in a store, weights computed when read."""
