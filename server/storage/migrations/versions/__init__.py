"""A module for each step; the newest is what the program needs."""
