"""Which tools could help: documents to text, text to vectors, search."""
