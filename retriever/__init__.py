"""Tool retrieval: documents to text, text to vectors and words, candidates, ranking."""
