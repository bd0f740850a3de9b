"""Long work that administrators ask for, made on the server beside what it serves."""
