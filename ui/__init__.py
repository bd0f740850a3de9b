"""The chat page: a client of the server, over HTTP alone."""

SERVER_ADDRESS = "FOOTPATH_SERVER_ADDRESS"
"""The environment variable that says where the server is."""
