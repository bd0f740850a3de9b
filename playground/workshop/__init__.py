"""Fermata: the back office of a workshop that mends instruments. A service of its own, which no trajectory knows."""
