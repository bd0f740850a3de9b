"""A store as one file: written and read in a stream, the same bytes for the same content, checked to the last one."""
