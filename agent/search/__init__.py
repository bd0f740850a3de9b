"""Depth-first search of the tool graph, with backtracking."""
