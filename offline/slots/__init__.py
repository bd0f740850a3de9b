"""Values for the parameters of a call, read from a request and from earlier responses."""
