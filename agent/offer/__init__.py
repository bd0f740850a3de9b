"""Selection of the tools for a request: candidates, their pool, the evidence for each, and fallbacks."""
