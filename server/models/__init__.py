"""Model services that administrators set up: tried before they are kept, and followed by runs."""
