"""Rows: the one place that speaks SQL."""
