"""How decisions become a path: walk, react, all at once, retrieval alone."""
