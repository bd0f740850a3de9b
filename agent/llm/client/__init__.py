"""Chat models and embeddings at any OpenAI-compatible address."""
