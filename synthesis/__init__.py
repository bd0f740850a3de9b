"""Mine solutions from the tool graph, with the questions that they answer."""
