"""Export and import of a store as one file: streamed, verified, the same bytes for the same content."""
