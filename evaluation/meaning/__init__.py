"""The meaning of programs as terms, independent of names and layout, by which programs are compared."""
