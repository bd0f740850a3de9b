"""Write programs without a model: search the sentences over the offered functions for the one that fits the request."""
