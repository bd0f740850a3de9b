"""Training of encoders and of the re-ranker; it needs the extra ``neural``, and the search never imports it."""
