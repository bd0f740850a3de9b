"""Clients of chat models and embeddings at any OpenAI-compatible address."""
