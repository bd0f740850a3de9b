"""Made from the graph: solutions, and the questions that they answer."""
