"""A request to a path to an answer."""
