"""Write programs without a model: of the sentences that the offered functions allow, the one that fits the request."""
