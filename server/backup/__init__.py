"""Everything that a server has as one folder, made while it serves, and a server made of it again."""
