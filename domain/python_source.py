"""Parses Python text into syntax trees, one text at a time.

CPython 3.11 counts how deeply trees are nested in one counter of the whole process (python/cpython#106905): where two threads build trees at
the same time, one of them fails with ``SystemError: AST constructor recursion depth mismatch``, whatever its text. Requests, runs and
checks parse in threads, so all of them parse here, under one lock.
"""

import ast
from threading import RLock
from typing import Any

_parsing = RLock()
"""Re-entrant, since a finalizer that the garbage collector runs while a tree is built may parse too."""


def parse_module(text: str | bytes) -> ast.Module:
    """Return the tree of a text; raises what :func:`ast.parse` does."""
    with _parsing:
        return ast.parse(text)


def parse_expression(text: str) -> ast.Expression:
    """Return the tree of a single expression; raises what :func:`ast.parse` does."""
    with _parsing:
        return ast.parse(text, mode="eval")


def parse_literal(text: str) -> Any:
    """Return the value of a literal, as :func:`ast.literal_eval` does of a text."""
    return ast.literal_eval(parse_expression(text.lstrip(" \t")))
