"""The vocabulary of the product: frozen models, protocols of stores, and errors. It imports no other package."""
