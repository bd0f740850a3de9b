"""The vocabulary of the product: frozen models and errors. No I/O; imports nothing of ours."""
