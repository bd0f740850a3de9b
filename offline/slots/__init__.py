"""Values for the parameters of a call, out of a request and earlier responses."""
