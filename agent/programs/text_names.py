"""Names of a program's text, as its tree has them."""

import ast
from collections import Counter
from collections.abc import Iterable

from domain.python_source import parse_module


def used(text: str) -> frozenset[str]:
    """The names that it reads."""
    return frozenset(places(text))


def places(text: str) -> Counter[str]:
    """In how many places it reads each name."""
    tree = parse_module(text)
    return Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))


def found(text: str) -> frozenset[str]:
    """The names that it reads, none of a text that cannot be read."""
    try:
        return used(text)
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()


def made(texts: Iterable[str]) -> frozenset[str]:
    """The names that texts leave behind for what comes after them: those of their outermost level."""
    found: set[str] = set()
    for text in texts:
        for node in ast.walk(parse_module(text)):
            match node:
                case ast.Name(ctx=ast.Store()):
                    found.add(node.id)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    found.add(node.name)
                case ast.alias():
                    found.add((node.asname or node.name).partition(".")[0])
                case _:
                    continue
    return frozenset(found)
