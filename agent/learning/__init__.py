"""What a run teaches the graph and long-term memory."""
