"""A program's text as a tree, within bounds, and what a tree's nodes are called for."""

import ast
import re
import tokenize
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO

from agent.programs.quotes import with_other_quotes
from domain.python_source import parse_module

LONGEST = 20_000
"""Characters of a text; what a model writes has some hundreds."""
_MOST_NODES = 6_000
_DEEPEST = 60
_PLAIN = re.compile(r"[rRuUbB]*['\"]")
"""How a text begins that holds no names."""
_UNSEEN = re.compile(r"[^\S\n ]|[\x00-\x09\x0b-\x1f\x7f\ufeff\u2028\u2029]")


Place = tuple[int, int]
"""A line of a text, from 1, and where in it, from 0 and in UTF-8 bytes, as a tree has it."""
NOWHERE: Place = (0, 0)
"""Of no line in particular."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a text is no program, and where it ceases to be one; the column is from 1 and in characters, 0: unknown."""

    complaint: str
    line: int = 0
    column: int = 0


def place_of(node: ast.AST) -> Place:
    """Where a part of a tree begins."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def read(text: str, longest: int = LONGEST) -> tuple[str, ast.Module] | Unreadable:
    """The text, written anew where two readers might take it differently, and its tree. ``longest``: characters that it may have."""
    if len(text) > longest:
        return Unreadable(f"The program is longer than {longest} characters: write a shorter one.")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    try:
        lines, tree = _parsed(lines)
        if _unbounded(tree, _MOST_NODES * longest // LONGEST):
            return Unreadable("The program is too large or too deeply nested: write it more simply.")
        if _ambiguous(lines):
            lines = ast.unparse(tree)
            tree = parse_module(lines)
    except SyntaxError as error:
        said = f"Line {error.lineno or 0} is no Python: {error.msg}{_shown(error.text)}"
        return Unreadable(said, error.lineno or 0, max(error.offset or 0, 0))
    except (ValueError, RecursionError, MemoryError, tokenize.TokenError):
        return Unreadable("The program cannot be read: write it more simply.")
    if not tree.body:
        return Unreadable("There is no program: write Python code.")
    return lines, tree


def called(node: ast.AST) -> str:
    """The name that a call is made by, ``asyncio.gather`` too; empty where it is none."""
    if not isinstance(node, ast.Call):
        return ""
    match node.func:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=module), attr=name):
            return f"{module}.{name}"
        case _:
            return ""


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    """All calls, in the order of the text."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return iter(sorted(found, key=lambda call: (call.lineno, call.col_offset)))


def bound_names(tree: ast.AST) -> set[str]:
    """All names that the text itself gives a meaning to, wherever."""
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


def _parsed(text: str) -> tuple[str, ast.Module]:
    try:
        return text, parse_module(text)
    except SyntaxError:
        requoted = with_other_quotes(text)
        if requoted == text:
            raise
        return requoted, parse_module(requoted)


def _unbounded(tree: ast.Module, most: int) -> bool:
    level: list[ast.AST] = [tree]
    nodes = 0
    for _ in range(_DEEPEST):
        nodes += len(level)
        if nodes > most:
            return True
        level = [inner for node in level for inner in ast.iter_child_nodes(node)]
        if not level:
            return False
    return True


def _ambiguous(text: str) -> bool:
    """Characters that are not seen, and names that Python takes for others (NFKC): the sandbox has a reader of its own."""
    if _UNSEEN.search(text):
        return True
    return unicodedata.normalize("NFKC", text) != text and any(
        unicodedata.normalize("NFKC", token.string) != token.string
        for token in tokenize.generate_tokens(StringIO(text).readline)
        if token.type != tokenize.COMMENT and not (token.type == tokenize.STRING and _PLAIN.match(token.string))
    )


def _shown(line: str | None) -> str:
    return f": {line.strip()[:80]}" if line and line.strip() else "."
