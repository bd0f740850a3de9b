"""Give tools, parameters and inputs unique Python names, and keep reserved names free."""

import builtins
import keyword
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

from domain.source_text import parse_source
from domain.tool import ToolDoc

T = TypeVar("T")

MAX_NAME_LENGTH = 64
"""Maximum number of characters of a generated name."""

PROGRAM_NAMES = frozenset({"ToolError", "ask", "earlier", "fill", "first", "look", "named", "pick", "today"})
"""Names that are defined in every program besides its tools."""

RESERVED_NAMES = PROGRAM_NAMES | frozenset(
    {"Annotated", "Any", "Literal", "NotRequired", "TypedDict", "asyncio", "datetime", "json", "math", "os", "pathlib", "re", "sys", "typing"}
) | frozenset(dir(builtins))  # fmt: skip
"""Names that no tool may have, because they mean something else in a program or in Python."""

_NON_WORD = re.compile(r"\W+")
_NUMBERED = re.compile(r"(.+)_\d+")
_NUMBER_LENGTH = 6
"""Characters of a long name that are cut so that an appended number fits."""


def to_identifier(text: str, fallback: str) -> str:
    """Convert a text to a Python identifier that begins with a letter.

    It consists of letters of any script, digits and single underscores, and is never a keyword. Python compares names
    in their NFKC form, so the result has that form: names that differ here also differ in Python. ``fallback`` is put
    before a leading digit, and is the name if nothing of ``text`` remains.
    """
    plain = unicodedata.normalize("NFKC", text[: 8 * MAX_NAME_LENGTH])
    name = "_".join(part for part in _NON_WORD.sub("_", plain).split("_") if part)[:MAX_NAME_LENGTH].rstrip("_")
    if not name.isidentifier():
        # It begins with a digit, or with a combining mark of some script.
        name = f"{fallback}_{name}"[:MAX_NAME_LENGTH] if name else fallback
    # Cutting and joining can undo the normal form, and the new normal form need not be an identifier.
    name = unicodedata.normalize("NFKC", name)
    if not name.isidentifier():
        name = "_".join(re.findall(r"[A-Za-z0-9]+", name)) or fallback
    return f"{name}_" if keyword.iskeyword(name) else name


def assign_names(
    items: Iterable[T], list_candidates: Callable[[T], Iterable[str]], reserved: Collection[str] = ()
) -> list[tuple[str, T]]:
    """Return each thing with a unique name: the first free one that ``list_candidates`` proposes, else the last with a number."""
    used = set(reserved)
    assigned: list[tuple[str, T]] = []
    for item in items:
        name = _choose_free_name(list(list_candidates(item)), used)
        used.add(name)
        assigned.append((name, item))
    return assigned


def _choose_free_name(candidates: list[str], used: Collection[str]) -> str:
    """Return the first unused name, else the last one with the lowest free number from 2."""
    for candidate in candidates:
        if candidate not in used:
            return candidate
    base, number = candidates[-1][: MAX_NAME_LENGTH - _NUMBER_LENGTH].rstrip("_"), 2
    while f"{base}_{number}" in used:
        number += 1
    return f"{base}_{number}"


def assign_tool_names(tools: Iterable[ToolDoc], reserved: Collection[str] = ()) -> list[tuple[str, ToolDoc]]:
    """Return tools with their names as functions.

    A function has the name of its API. If that is taken by another tool, by Python or by ``reserved``, the name of the
    toolset is appended, then a number.
    """
    return assign_names(tools, _list_tool_names, RESERVED_NAMES | frozenset(reserved))


def is_possible_tool_name(name: str, tool: ToolDoc) -> bool:
    """Return True if :func:`assign_tool_names` can give a tool this name, whatever other tools are offered with it."""
    numbered = _NUMBERED.fullmatch(name)
    base = numbered[1] if numbered else name
    max_base_length = MAX_NAME_LENGTH - _NUMBER_LENGTH
    candidates = _list_tool_names(tool)
    return name not in RESERVED_NAMES and (
        name in candidates
        or (numbered is not None and base in {candidate[:max_base_length].rstrip("_") for candidate in candidates})
    )


def _list_tool_names(tool: ToolDoc) -> tuple[str, str]:
    """Return the names that a tool may have, in order of preference."""
    api = to_identifier(tool.api, "tool")
    return api, to_identifier(f"{api[: MAX_NAME_LENGTH // 2]} {tool.toolset}", "tool")


def collect_defined_names(texts: Iterable[str]) -> frozenset[str]:
    """Return the names that cells define for the cells after them."""
    return frozenset(name for text in texts for name in parse_source(text).exported_names)
