"""Planners: by graph search, step by step with results, in one decision, by retrieval alone, or by programs."""
