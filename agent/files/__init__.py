"""Files that a user gives with a question: read, bounded, shown to the author of a program, found again as the origin of values."""
