"""Rows of sources of tools."""
