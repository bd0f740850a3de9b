"""Tools as functions of a program."""
