"""Learning from runs: updates of the graph, of long-term memory and of solutions."""
