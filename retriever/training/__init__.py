"""Training of encoders and the re-ranker; needs the extra ``neural`` and is never imported by the search."""
