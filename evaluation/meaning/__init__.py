"""Meaning of programs in one canonical form, independent of names and layout, in which they are compared."""
