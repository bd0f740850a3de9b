"""What a parameter of a tool wants, told by its document."""
