"""A parsed Python text with its calls, names, strings and statements as plain values."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from domain.python_source import (
    collect_bound_names,
    find_line_starts,
    get_called_name,
    list_assigned_names,
    list_calls,
    parse_module,
)

_CACHED_TEXTS = 32
"""Number of parsed texts that are cached.

The checks, the run and the views of one program ask for the same text in turn.
"""
_MAX_CACHED_LENGTH = 20_000
"""Longer texts, in characters, are not cached."""


def parse_source(text: str) -> "SourceText":
    """Return the parsed text; equal texts share one object. Raises what :func:`ast.parse` does."""
    return _parse_once(text) if len(text) <= _MAX_CACHED_LENGTH else SourceText(text)


def try_parse_source(text: str) -> "SourceText | None":
    """Return the parsed text, or None if it is not valid Python."""
    try:
        return parse_source(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def parse_sources(texts: Sequence[str]) -> "list[SourceText]":
    """Parse the cells of one program, each into a tree of its own.

    Analyses tell nodes of different cells apart by identity, so equal cells must not share a tree.
    """
    return [SourceText(text) if text in texts[:number] else parse_source(text) for number, text in enumerate(texts)]


def normalize_source(text: str) -> str:
    """Return a text in Python's own layout, without comments."""
    return ast.unparse(parse_source(text).tree)


@dataclass(frozen=True, slots=True)
class SourceExpression:
    """An expression of a text. Lines count from 1."""

    node: ast.expr
    """For the analyses in ``agent/programs/analysis``, which must not change it."""
    start: int
    """Offset of its beginning in UTF-8 bytes; within an f-string Python reports positions only roughly."""
    end: int

    @property
    def line(self) -> int:
        return self.node.lineno

    @property
    def code(self) -> str:
        """The expression in Python's own layout."""
        return ast.unparse(self.node)

    @property
    def name(self) -> str:
        """The name, if the expression is one; else empty."""
        return self.node.id if isinstance(self.node, ast.Name) else ""

    @property
    def names(self) -> frozenset[str]:
        return frozenset(_iterate_names(self.node))

    @property
    def value(self) -> object:
        """The value, if the expression is a single constant; else None."""
        return self.node.value if isinstance(self.node, ast.Constant) else None


@dataclass(frozen=True, slots=True)
class SourceArgument:
    """A named argument of a call; the name is empty for an unpacked mapping (``**``)."""

    name: str
    value: SourceExpression
    start: int


@dataclass(frozen=True, slots=True)
class SourceCall:
    """A call in a text."""

    node: ast.Call
    """For the analyses, which must not change it."""
    function: str
    """The called name, or a name with one dot as ``asyncio.gather``; empty for anything else."""
    positional: tuple[SourceExpression, ...]
    arguments: tuple[SourceArgument, ...]
    start: int
    """Offset in UTF-8 bytes, as the sites of events contain it."""
    end: int
    column: int
    """Position in its line, from 1 and in characters."""
    awaited_from: int | None = None
    """Offset of the ``await`` in front of it; None if there is none."""
    assigned_to: str = ""
    """The name that a statement assigns its awaited result to, if it does nothing else."""
    in_f_string: bool = False
    """It is within an f-string."""

    @property
    def line(self) -> int:
        return self.node.lineno

    @property
    def last_line(self) -> int:
        return self.node.end_lineno or self.node.lineno

    @property
    def name(self) -> str:
        """The function's name; empty if it is an attribute or computed."""
        return self.function if "." not in self.function else ""


@dataclass(frozen=True, slots=True)
class SourceStatement:
    """A statement at any level."""

    node: ast.stmt
    """For the analyses, which must not change it."""
    start: int
    """Offset in UTF-8 bytes."""
    end: int
    outermost: bool
    """True if it is in no other statement."""
    body_start: int
    """Offset of the first statement in its body; its own offset if it has no body."""

    @property
    def line(self) -> int:
        return self.node.lineno

    @property
    def last_line(self) -> int:
        return self.node.end_lineno or self.node.lineno

    @property
    def kind(self) -> Literal["loop", "leaving", "simple", "other"]:
        """Kind of the statement.

        ``leaving``: nothing follows it, as after a return or a break; ``simple``: a single step, followed by the next
        one.
        """
        match self.node:
            case ast.For() | ast.AsyncFor() | ast.While():
                return "loop"
            case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
                return "leaving"
            case (
                ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Expr() | ast.Assert() | ast.Delete() | ast.Pass()
            ):
                return "simple"
            case _:
                return "other"

    @property
    def assigned_names(self) -> tuple[str, ...]:
        """The names that it assigns to, modifies, or binds as a loop variable."""
        return tuple(list_assigned_names(self.node))

    @property
    def defined_function(self) -> str:
        """The function that it defines; empty for any other statement."""
        return self.node.name if isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef) else ""

    @property
    def sole_called_function(self) -> str:
        """The function that it calls, awaited or not, if it does nothing else; otherwise empty."""
        value = self.node.value if isinstance(self.node, ast.Expr) else None
        call = value.value if isinstance(value, ast.Await) else value
        return call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""

    @property
    def names(self) -> frozenset[str]:
        return frozenset(_iterate_names(self.node))


class SourceText:
    """A parsed text. Equal texts share one object, so it must not be changed."""

    def __init__(self, text: str) -> None:
        """Parse a text; raises what :func:`ast.parse` does."""
        self.text = text
        self.tree = parse_module(text)

    @cached_property
    def line_starts(self) -> list[int]:
        """Offset of each line's beginning in UTF-8 bytes; lines as the parser counts them."""
        return find_line_starts(self.text)

    @cached_property
    def calls(self) -> tuple[SourceCall, ...]:
        """All calls, in the order of the text."""
        return tuple(_read_calls(self))

    @cached_property
    def statements(self) -> tuple[SourceStatement, ...]:
        """All statements, each before those within it."""
        return tuple(self._read_statements(self.tree.body, outermost=True))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every occurrence of a name, read, set or deleted, the outer ones first."""
        return tuple(_iterate_names(self.tree))

    @cached_property
    def read_counts(self) -> Counter[str]:
        """How often each name is read."""
        return self._count_names(ast.Load)

    @cached_property
    def read_names(self) -> frozenset[str]:
        """The names that it reads."""
        return frozenset(self.read_counts)

    @cached_property
    def assignment_counts(self) -> Counter[str]:
        """How often each name is set."""
        return self._count_names(ast.Store)

    @cached_property
    def bound_names(self) -> frozenset[str]:
        """All names that the text binds anywhere."""
        return frozenset(collect_bound_names(self.tree))

    @cached_property
    def exported_names(self) -> frozenset[str]:
        """The names that stay bound for a text that runs after this one: variables, functions and imports."""
        imports = (node for node in ast.walk(self.tree) if isinstance(node, ast.alias))
        functions = (node.defined_function for node in self.statements if node.defined_function)
        return frozenset(
            (*self.assignment_counts, *functions, *((node.asname or node.name).partition(".")[0] for node in imports))
        )

    @cached_property
    def string_constants(self) -> tuple[str, ...]:
        """Its string constants, the outer ones first."""
        constants = (node.value for node in ast.walk(self.tree) if isinstance(node, ast.Constant))
        return tuple(value for value in constants if isinstance(value, str))

    @property
    def last_value(self) -> SourceExpression | None:
        """The expression that its last statement consists of; None if that is any other statement."""
        last = self.tree.body[-1] if self.tree.body else None
        return self.to_expression(last.value) if isinstance(last, ast.Expr) else None

    @cached_property
    def node_types(self) -> frozenset[str]:
        """The class names of its nodes: ``Await``, ``Assign``."""
        return frozenset(type(node).__name__ for node in ast.walk(self.tree))

    @cached_property
    def dict_keys(self) -> frozenset[object]:
        """The constant keys of its dictionary literals."""
        dicts = (node for node in ast.walk(self.tree) if isinstance(node, ast.Dict))
        return frozenset(key.value for node in dicts for key in node.keys if isinstance(key, ast.Constant))

    def find_occurrences(self, name: str) -> list[tuple[int, bool]]:
        """Return the offsets of a name in UTF-8 bytes, each with whether it is within an f-string."""
        strings = (node for node in ast.walk(self.tree) if isinstance(node, ast.JoinedStr))
        nodes_in_f_strings = {node for string in strings for node in ast.walk(string)}
        nodes = (node for node in ast.walk(self.tree) if isinstance(node, ast.Name) and node.id == name)
        return [(self.get_span(node)[0], node in nodes_in_f_strings) for node in nodes]

    def fits_within(self, nodes: int, levels: int) -> bool:
        """Return whether the tree has at most this many nodes and levels."""
        level: list[ast.AST] = [self.tree]
        counted = 0
        for _ in range(levels):
            counted += len(level)
            if counted > nodes:
                return False
            level = [inner for node in level for inner in ast.iter_child_nodes(node)]
            if not level:
                return True
        return False

    def get_span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """Return where a node begins and ends, in UTF-8 bytes."""
        last, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self._to_offset(node.lineno, node.col_offset), self._to_offset(last, end)

    def to_expression(self, node: ast.expr) -> SourceExpression:
        """Return one of the text's nodes as an expression."""
        return SourceExpression(node, *self.get_span(node))

    def _count_names(self, context: type[ast.expr_context]) -> Counter[str]:
        nodes = (node for node in ast.walk(self.tree) if isinstance(node, ast.Name))
        return Counter(node.id for node in nodes if isinstance(node.ctx, context))

    def _to_offset(self, line: int, offset: int) -> int:
        return (
            self.line_starts[min(line, len(self.line_starts)) - 1] + offset
        )  # Python may report a line beyond the text for a node in an f-string

    def _read_statements(self, body: Sequence[ast.stmt], *, outermost: bool) -> Iterator[SourceStatement]:
        for node in body:
            start, end = self.get_span(node)
            inner: list[ast.stmt] = getattr(node, "body", [])
            yield SourceStatement(node, start, end, outermost, self.get_span(inner[0])[0] if inner else start)
            for name in ("body", "orelse", "finalbody"):
                yield from self._read_statements(getattr(node, name, []), outermost=False)
            for part in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
                yield from self._read_statements(part.body, outermost=False)


@lru_cache(maxsize=_CACHED_TEXTS)
def _parse_once(text: str) -> SourceText:
    return SourceText(text)


def _iterate_names(node: ast.AST) -> Iterator[str]:
    """Yield each occurrence of a name below a node."""
    return (part.id for part in ast.walk(node) if isinstance(part, ast.Name))


def _read_calls(source: SourceText) -> Iterator[SourceCall]:
    """Yield the calls of a text in order, in two passes: what surrounds them is known only after the first."""
    awaits: dict[ast.AST, ast.Await] = {}
    assigned_names: dict[ast.AST, str] = {}
    nodes_in_f_strings = set[ast.AST]()
    encoded_text = source.text.encode()
    for node in ast.walk(source.tree):
        match node:
            case ast.Await(value):
                awaits[value] = node
            case ast.Assign([ast.Name(name)], ast.Await(value)):
                assigned_names[value] = name
            case ast.JoinedStr():
                nodes_in_f_strings.update(ast.walk(node))
            case _:
                pass
    for node in list_calls(source.tree):
        start, end = source.get_span(node)
        arguments = tuple(
            SourceArgument(keyword.arg or "", source.to_expression(keyword.value), source.get_span(keyword)[0])
            for keyword in node.keywords
        )
        yield SourceCall(
            node,
            get_called_name(node),
            tuple(map(source.to_expression, node.args)),
            arguments,
            start,
            end,
            len(encoded_text[start - node.col_offset : start].decode(errors="replace")) + 1,
            source.get_span(awaits[node])[0] if node in awaits else None,
            assigned_names.get(node, ""),
            node in nodes_in_f_strings,
        )
