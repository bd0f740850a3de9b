"""Solutions: programs that served a request and are reused with new values."""
