"""Who is asking, and how that is known."""
