"""Parsing of Python text into syntax trees, under one lock, and reading of the names in them.

CPython 3.11 counts the nesting of trees in one counter of the whole process (python/cpython#106905): if two threads
build trees at the same time, one of them fails with ``SystemError: AST constructor recursion depth mismatch``,
whatever its text. Requests, runs and checks parse in threads, so all of them must parse here.
"""

import ast
import re
from inspect import cleandoc
from itertools import pairwise
from threading import RLock
from types import CodeType
from typing import Any

SourcePosition = tuple[int, int]
"""Line from 1 and UTF-8 byte offset in it from 0, as syntax trees count them."""
_parse_lock = RLock()
"""Re-entrant, since a finalizer that the garbage collector runs while a tree is built may parse too."""


def parse_module(text: str | bytes) -> ast.Module:
    """Return a new tree, which the caller may change. Raises what :func:`ast.parse` does."""
    with _parse_lock:
        return ast.parse(text)


def parse_expression(text: str) -> ast.Expression:
    """Return the tree of a single expression; raises what :func:`ast.parse` does."""
    with _parse_lock:
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
    """Compile a text that may await at its outermost level.

    When it has run, ``name`` holds the value of its last statement, if that is an expression.
    """
    tree = parse_module(text)
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        tree.body[-1] = ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], last.value), last)
    return compile(ast.fix_missing_locations(tree), "program", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def find_line_starts(text: str) -> list[int]:
    """Return the UTF-8 byte offset at which each line begins; lines as the parser counts them."""
    starts, offset = [0], 0
    for line in re.split(r"(?<=\n)|(?<=\r)(?!\n)", text):
        offset += len(line.encode())
        starts.append(offset)
    return starts


def unparse(node: ast.AST) -> str:
    """Return a part of a tree in Python's own layout."""
    return ast.unparse(node)


def map_parents(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    """Map each node of a tree to its parent."""
    return {inner: node for node in ast.walk(tree) for inner in ast.iter_child_nodes(node)}


def get_position(node: ast.AST) -> SourcePosition:
    """Return where a node begins; (0, 0) if it has no position."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def get_called_name(node: ast.AST) -> str:
    """Return the name by which a call is made: ``f`` or, with one dot, ``asyncio.gather``.

    Empty if the node is not such a call.
    """
    if not isinstance(node, ast.Call):
        return ""
    match node.func:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=module), attr=name):
            return f"{module}.{name}"
        case _:
            return ""


def list_calls(tree: ast.AST) -> list[ast.Call]:
    """Return all calls of a tree, in the order of the text."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return sorted(nodes, key=lambda call: (call.lineno, call.col_offset))


def list_argument_values(call: ast.Call) -> list[ast.expr]:
    """Return the values of a call's arguments, positional ones first."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def collect_bound_names(tree: ast.AST) -> set[str]:
    """Return all names that a tree binds anywhere."""
    bound_names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                bound_names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                bound_names.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                bound_names.add(name)
            case ast.MatchMapping(rest=str(name)):
                bound_names.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                bound_names.update((alias.asname or alias.name).partition(".")[0] for alias in names)
            case _:
                pass
    return bound_names


def list_assigned_names(node: ast.stmt) -> list[str]:
    """Return the names that a statement assigns to, modifies, or binds as a loop variable."""
    match node:
        case ast.Assign(targets):
            return [name for target in targets for name in _find_root_names(target)]
        case ast.AugAssign(target) | ast.For(target) | ast.AsyncFor(target):
            return _find_root_names(target)
        case ast.AnnAssign(target, _, value):
            return _find_root_names(target) if value is not None else []
        case ast.Expr(ast.Call(func=ast.Attribute(value=receiver))):
            return _find_root_names(receiver)
        case _:
            return []


def _find_root_names(target: ast.expr) -> list[str]:
    """Return the names that an assignment target binds, or modifies a part of."""
    match target:
        case ast.Name(name):
            return [name]
        case ast.Tuple(parts) | ast.List(parts):
            return list(dict.fromkeys(name for part in parts for name in _find_root_names(part)))
        case ast.Starred(value) | ast.Subscript(value) | ast.Attribute(value):
            return _find_root_names(value)
        case _:
            return []


def read_attribute_docstrings(text: str) -> dict[str, str]:
    """Return the docstrings below the annotated names of a class, by name.

    ``text``: the definition of the class. Raises what :func:`ast.parse` does.
    """
    definition = parse_module(text).body[0]
    docstrings: dict[str, str] = {}
    for field, following in pairwise(definition.body if isinstance(definition, ast.ClassDef) else ()):
        match field, following:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str() as docstring)):
                docstrings[name] = cleandoc(docstring)
            case _:
                pass
    return docstrings
