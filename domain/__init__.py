"""What the words mean: frozen models and errors. No I/O; imports nothing of ours."""
