"""Write programs without a model: find the sentence over the offered functions that fits the request."""
