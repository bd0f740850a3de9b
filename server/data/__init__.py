"""A server's data in the hands of administrators: counted, verified, backed up, restored, and added to by imports."""
