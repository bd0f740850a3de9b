"""Solutions: what was worked out once, taken again with new values."""
