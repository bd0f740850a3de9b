"""Findings of the type check that are certainly wrong.

The others are dropped: documents may describe less than there is, and values may be null where no document says so.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from agent.programs.signatures import Signature
from domain.python_source import parse_literal
from domain.tool import ToolDoc

_LINE = re.compile(r"(\d+):(\d+): \w+\[([a-z-]+)\] (.*)")
_ARGUMENT = re.compile(r"Argument to function `(\w+)` is incorrect: Expected `(.+)`, found `(.+)`")
_KEY = re.compile(r'Unknown key "(.*?)" for TypedDict `(_(\w+)_(in|out|file)_\d+)`(.*)')
_FIELD = re.compile(r"[{,]'([^']{1,60})':")
_SHOWN = 12
_FORGOTTEN = "CoroutineType["
_SURE = frozenset({"unresolved-attribute", "not-subscriptable", "not-iterable", "unsupported-operator", "invalid-key"})
_OPEN = re.compile(r"\b(None|Any|Unknown|Never|object)\b")
_CONTAINER = re.compile(r"^(list|dict|tuple|set|CoroutineType|_\w+_(in|out|file)_\d+)\b")
_ANSWER = re.compile(r"`_(\w+?)_out_\d+`")
_ROW = re.compile(r"`_(\w+?)_file_\d+`")
_LIST_OF = re.compile(r"list\[(Literal\[.*\])\]")
_LITERAL = re.compile(r"^Literal\[.*\]( \| None)?$")


def type_complaints(
    diagnostics: Sequence[str], tools: Mapping[str, Signature], docs: Mapping[str, ToolDoc], types: str = ""
) -> Iterator[tuple[int, int, str]]:
    """Yield line, column (from 1, in characters) and sentence of each finding that counts.

    ``types``: definitions of the values in files.
    """
    for diagnostic in diagnostics:
        if found := _LINE.fullmatch(diagnostic):
            rule, message = found[3], found[4]
            if said := _complaint(rule, message, tools, docs, types):
                yield int(found[1]), int(found[2]), said


def _complaint(rule: str, message: str, tools: Mapping[str, Signature], docs: Mapping[str, ToolDoc], types: str) -> str:
    """Return the sentence for a finding, empty if it is not certain."""
    if _FORGOTTEN in message:
        return "A call is used before it is awaited: write `await` before it."
    if rule == "invalid-argument-type":
        return _argument(message, tools)
    if rule == "invalid-key":
        return _key(message, tools, docs, types)
    if rule in _SURE and not _OPEN.search(message) and " | " not in message and "_in_" not in message:
        return _ROW.sub(r"a row of `\1`, which is a dict,", _ANSWER.sub(r"what `\1` answers", message)) + "."
    return ""


def _argument(message: str, tools: Collection[str]) -> str:
    """Return the sentence for an argument of the wrong type, empty if the call may still convert it."""
    found = _ARGUMENT.fullmatch(message)
    if not found or found[1] not in tools:
        return ""
    expected, given = found[2], found[3]
    if _OPEN.search(given) or " | " in given:
        return ""
    item = _LIST_OF.fullmatch(expected)
    allowed = (
        item[1] if item and not _CONTAINER.match(given) else expected
    )  # one value of a list is sent as a list of one
    closed = _LITERAL.fullmatch(allowed) and _LITERAL.fullmatch(given)
    if closed and _is_member_by_text(given, allowed):
        return ""
    if closed or bool(_CONTAINER.match(expected)) != bool(_CONTAINER.match(given)):
        return f"`{found[1]}` takes {expected}, and is given {given}."
    return ""  # scalars are turned into each other where nothing is lost, and refused by the call else


def _is_member_by_text(given: str, expected: str) -> bool:
    """Return True if every value is an allowed one when both are compared as text.

    A call sends ``True`` where ``"true"`` is allowed.
    """
    try:
        members, values = (
            {str(value).casefold() for value in parse_literal(literal.partition(" | ")[0].removeprefix("Literal"))}
            for literal in (expected, given)
        )
    except (SyntaxError, ValueError):  # the type checker shortens long lists
        return False
    return values <= members


def _key(message: str, tools: Mapping[str, Signature], docs: Mapping[str, ToolDoc], types: str) -> str:
    """Return the sentence for an unknown field or column, empty if it may exist.

    A field is certainly wrong if the document has a schema, or a field with a similar name; a column if the file does not have it.
    """
    found = _KEY.fullmatch(message)
    if not found:
        return ""
    key, kind, function, side, rest = found.groups()
    if side == "file":
        return f'There is no column "{key}" in the file `{function}`{_fields(kind, types)}'
    alike = re.search(r'did you mean "(.*?)"', rest)
    doc = docs.get(function)
    if not alike and side == "out" and not (doc and doc.response_schema and not doc.learnt_response):
        return ""
    place = "what it takes" if side == "in" else f"what `{function}` answers"
    fields = _fields(kind, tools[function].stub) if function in tools else ""
    return f'There is no field "{key}" in {place}{f": did you mean {alike[1]!r}?" if alike else fields}'


def _fields(kind: str, stub: str) -> str:
    """Return the known fields of an object, from its declaration."""
    line = next((line for line in stub.splitlines() if line.startswith(f"{kind} = ")), "")
    names = [repr(one) for one in _FIELD.findall(line)][:_SHOWN]
    return f", but {', '.join(names)}." if names else "."
