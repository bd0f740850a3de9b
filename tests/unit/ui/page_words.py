"""What the modules of the page say, read off their source: texts that go through catalogues, and texts that do not."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any, TypeGuard, cast

PAGE = Path(__file__).parents[3] / "ui"
SAYING = ("say", "say_count", "message")
_DRAWN = re.compile(
    r"(?:download_|link_|form_submit_)?button|checkbox|toggle|radio|(?:multi)?select(?:box|_slider)?|segmented_control|slider|data_editor"
    r"|(?:text|number|date|time|chat)_input|text_area|file_uploader|title|(?:sub)?header|caption|text|markdown|error|warning|info"
    r"|success|toast|metric|expander|popover|tabs|spinner|progress|status|write|badge|folded"
)
"""Functions that draw their first words, and their help."""
_SHOWN = frozenset(["label", "body", "help", "placeholder", "text", "title", "alt", "x_label", "y_label"])
_WORD = re.compile(r"[A-Za-z]{2,}")
_MARKUP = re.compile(r":material/\w+:|:[a-z]+-badge\[|https?://\S*|</?\w[^>]*>")
_SENTENCE = re.compile(r"[A-Z][a-z]+,? [\w{*]|[A-Z]\w* [a-z]+ ")


@dataclass(frozen=True)
class Said:
    """A text that a module gives to a catalogue. ``more``: its form for several, where it has one."""

    place: str
    text: str
    more: str = ""


def modules() -> Iterator[tuple[str, ast.Module]]:
    """All of the page, by their paths below ``ui``."""
    for path in sorted(PAGE.rglob("*.py")):
        yield str(path.relative_to(PAGE)), ast.parse(path.read_text())


def said(place: str, tree: ast.Module) -> Iterator[Said]:
    """Each literal that ``say``, ``say_count`` and ``message`` are given."""
    for node in ast.walk(tree):
        if _is_call_of(node, SAYING):
            words = [one.value for one in node.args[:2] if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            several = _is_call_of(node, ("say_count",))
            if words:
                yield Said(f"{place}:{node.lineno}", words[0], words[1] if several else "")


def bare(place: str, tree: ast.Module) -> Iterator[str]:
    """English that is drawn as it stands: given to what draws, or a sentence anywhere. ``file:line: text``."""
    known = {id(one) for node in ast.walk(tree) for one in _allowed(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Attribute, ast.Name)):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            drawn = (
                [*node.args[:1], *(one.value for one in node.keywords if one.arg in _SHOWN)]
                if _DRAWN.fullmatch(name)
                else []
            )
            for text in (text for one in drawn for text in _written(one)):
                if _WORD.search(_MARKUP.sub("", text)):
                    yield f"{place}:{node.lineno}: {text}"
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in known
            and _is_sentence(node.value)
        ):
            yield f"{place}:{node.lineno}: {node.value}"


def placeholders(text: str) -> set[tuple[str, str]]:
    """The names in braces, with how they are written."""
    return {(name, spec or "") for _, name, spec, _ in Formatter().parse(text) if name is not None}


def _is_sentence(text: str) -> bool:
    return _SENTENCE.match(text) is not None and "#" not in text


def _is_call_of(node: ast.AST, names: tuple[str, ...]) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _written(node: ast.expr) -> Iterator[str]:
    """The literal parts of what is drawn."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr():
            yield "".join(str(one.value) if isinstance(one, ast.Constant) else "·" for one in node.values)
        case ast.BinOp(left=left, right=right):
            yield from (*_written(left), *_written(right))
        case ast.IfExp(body=one, orelse=other):
            yield from (*_written(one), *_written(other))
        case ast.BoolOp():
            yield from (text for one in node.values for text in _written(one))
        case ast.Call(func=ast.Name(id="unmarked" | "visible" | "labelled" | "clipped"), args=[inner, *_]):
            yield from _written(inner)
        case _:
            return


def _allowed(node: ast.AST) -> Iterator[ast.AST]:
    """Literals that are said, that document, or that belong to HTML, patterns and what is asked of servers."""
    body: Any = getattr(node, "body", None)
    if isinstance(body, list):
        yield from (one.value for one in cast(list[Any], body) if isinstance(one, ast.Expr))
    if _is_call_of(node, SAYING):
        yield from node.args
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("compile", "send"):
        yield from ast.walk(node)
