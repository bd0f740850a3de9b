"""Names of tools and parameters as names of Python, each for one thing only."""

import builtins
import keyword
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

from domain.source_text import parse_source
from domain.tool import ToolDoc

T = TypeVar("T")

LONGEST = 64
"""Characters of a name."""

FOUND = frozenset({"ToolError", "ask", "earlier", "fill", "first", "look", "named", "pick", "today"})
"""What a program's text finds beside its tools."""

TAKEN = FOUND | frozenset(
    {"Annotated", "Any", "Literal", "NotRequired", "TypedDict", "asyncio", "datetime", "json", "math", "os", "pathlib", "re", "sys", "typing"}
) | frozenset(dir(builtins))  # fmt: skip
"""What a program calls otherwise: no tool has one of these names."""

_OTHER = re.compile(r"\W+")
_NUMBERED = re.compile(r"(.+)_\d+")
_KEPT_BY_NUMBER = 6


def identifier(text: str, otherwise: str) -> str:
    """``text`` as a name: letters of any script, digits and single underscores, never a keyword, begun by a letter.

    In the form that Python compares names in (NFKC), so that names that differ here differ there. ``otherwise`` goes before a digit,
    and is the name where nothing of ``text`` is left.
    """
    plain = unicodedata.normalize("NFKC", text[: 8 * LONGEST])
    name = "_".join(part for part in _OTHER.sub("_", plain).split("_") if part)[:LONGEST].rstrip("_")
    if not name.isidentifier():
        # A digit, or a mark of a script that no name begins with.
        name = f"{otherwise}_{name}"[:LONGEST] if name else otherwise
    name = unicodedata.normalize("NFKC", name)
    if not name.isidentifier():
        name = "_".join(re.findall(r"[A-Za-z0-9]+", name)) or otherwise
    return f"{name}_" if keyword.iskeyword(name) else name


def named(things: Iterable[T], ways: Callable[[T], Iterable[str]], taken: Collection[str] = ()) -> list[tuple[str, T]]:
    """Each thing with a name of its own: the first of its ``ways`` that is free, else the last of them with a number."""
    used = set(taken)
    found: list[tuple[str, T]] = []
    for thing in things:
        name = _free(list(ways(thing)), used)
        used.add(name)
        found.append((name, thing))
    return found


def _free(ways: list[str], used: Collection[str]) -> str:
    for way in ways:
        if way not in used:
            return way
    base, number = ways[-1][: LONGEST - _KEPT_BY_NUMBER].rstrip("_"), 2
    while f"{base}_{number}" in used:
        number += 1
    return f"{base}_{number}"


def tool_names(tools: Iterable[ToolDoc], taken: Collection[str] = ()) -> list[tuple[str, ToolDoc]]:
    """Tools with their names as functions: that of the API; where another has it, or Python, or something that is ``taken``, with the tool set's."""
    return named(tools, _of_tool, TAKEN | frozenset(taken))


def is_name_of(name: str, tool: ToolDoc) -> bool:
    """Whether a tool may have this name as a function, where others have the names that come before it."""
    parted = _NUMBERED.fullmatch(name)
    base = parted[1] if parted else name
    longest = LONGEST - _KEPT_BY_NUMBER
    ways = _of_tool(tool)
    return name not in TAKEN and (
        name in ways or (parted is not None and base in {way[:longest].rstrip("_") for way in ways})
    )


def _of_tool(tool: ToolDoc) -> tuple[str, str]:
    api = identifier(tool.api, "tool")
    return api, identifier(f"{api[: LONGEST // 2]} {tool.toolset}", "tool")


def names_left(texts: Iterable[str]) -> frozenset[str]:
    """Return the names that texts leave behind for what comes after them."""
    return frozenset(name for text in texts for name in parse_source(text).names_left)
