"""The server: users, conversations and runs over HTTP."""
