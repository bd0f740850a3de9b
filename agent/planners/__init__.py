"""Planners: they serve a subtask by a given plan, by programs, or by a path through the tool graph."""
