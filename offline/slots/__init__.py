"""Find values for the parameters of a call, in the request and in earlier responses."""
