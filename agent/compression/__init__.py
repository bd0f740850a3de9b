"""Long responses made short."""
