"""The depth-first walk through the tool graph, with backtracking."""
