"""Parses Python text into syntax trees, one text at a time, and reads the names in them.

CPython 3.11 counts how deeply trees are nested in one counter of the whole process (python/cpython#106905): where two threads build trees at
the same time, one of them fails with ``SystemError: AST constructor recursion depth mismatch``, whatever its text. Requests, runs and
checks parse in threads, so all of them parse here, under one lock.
"""

import ast
import re
from threading import RLock
from types import CodeType
from typing import Any

Place = tuple[int, int]
"""Line from 1 and UTF-8 byte offset in it from 0, as syntax trees count them."""
_parsing = RLock()
"""Re-entrant, since a finalizer that the garbage collector runs while a tree is built may parse too."""


def parse_module(text: str | bytes) -> ast.Module:
    """Return a tree that is the caller's own to change; raises what :func:`ast.parse` does."""
    with _parsing:
        return ast.parse(text)


def parse_expression(text: str) -> ast.Expression:
    """Return the tree of a single expression; raises what :func:`ast.parse` does."""
    with _parsing:
        return ast.parse(text, mode="eval")


def parse_literal(text: str) -> Any:
    """Return the value of a literal, as :func:`ast.literal_eval` does of a text."""
    return ast.literal_eval(parse_expression(text.lstrip(" \t")))


def parse_assignments(text: str) -> dict[str, Any]:
    """Return the literals that a text assigns to names at its outermost level.

    Raises what :func:`parse_literal` does if a value is not a literal.
    """
    return {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in parse_module(text).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


def compile_with_value(text: str, name: str) -> CodeType:
    """Compile a text, which may await, so that ``name`` holds the value of its last expression once it has run."""
    tree = parse_module(text)
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        tree.body[-1] = ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], last.value), last)
    return compile(ast.fix_missing_locations(tree), "program", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def line_starts(text: str) -> list[int]:
    """Return the UTF-8 byte offset at which each line begins; lines as the parser counts them."""
    starts, at = [0], 0
    for line in re.split(r"(?<=\n)|(?<=\r)(?!\n)", text):
        at += len(line.encode())
        starts.append(at)
    return starts


def unparse(node: ast.AST) -> str:
    """Return a part of a tree in Python's own layout."""
    return ast.unparse(node)


def parents(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    """Map each node of a tree to its parent."""
    return {inner: node for node in ast.walk(tree) for inner in ast.iter_child_nodes(node)}


def place_of(node: ast.AST) -> Place:
    """Return where a node begins; zeros if it has no place."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def called(node: ast.AST) -> str:
    """Return the name that a call is made by, including ``asyncio.gather``; empty if the node is not such a call."""
    if not isinstance(node, ast.Call):
        return ""
    match node.func:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=module), attr=name):
            return f"{module}.{name}"
        case _:
            return ""


def calls(tree: ast.AST) -> list[ast.Call]:
    """Return all calls of a tree, in the order of the text."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return sorted(found, key=lambda call: (call.lineno, call.col_offset))


def bound_names(tree: ast.AST) -> set[str]:
    """Return all names that a tree binds anywhere."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.add(name)
            case ast.MatchMapping(rest=str(name)):
                found.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found.update((one.asname or one.name).partition(".")[0] for one in names)
            case _:
                pass
    return found


def names_set(node: ast.stmt) -> list[str]:
    """Return the names that a statement assigns to, modifies, or binds as a loop variable."""
    match node:
        case ast.Assign(targets):
            return [name for target in targets for name in _roots(target)]
        case ast.AugAssign(target) | ast.For(target) | ast.AsyncFor(target):
            return _roots(target)
        case ast.AnnAssign(target, _, value):
            return _roots(target) if value is not None else []
        case ast.Expr(ast.Call(func=ast.Attribute(value=held))):
            return _roots(held)
        case _:
            return []


def _roots(target: ast.expr) -> list[str]:
    """Return the names that an assignment target binds, or modifies a part of."""
    match target:
        case ast.Name(name):
            return [name]
        case ast.Tuple(parts) | ast.List(parts):
            return list(dict.fromkeys(name for part in parts for name in _roots(part)))
        case ast.Starred(value) | ast.Subscript(value) | ast.Attribute(value):
            return _roots(value)
        case _:
            return []
