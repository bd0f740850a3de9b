"""Policies, which take the decisions of a run: typed questions to them, their protocol, and wrappers such as the fallback."""
