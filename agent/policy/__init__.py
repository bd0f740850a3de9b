"""Policies, which take the decisions of a run: questions, the protocol, and wrappers such as the fallback."""
