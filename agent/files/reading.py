"""Parsing of an attached file: its bytes become a table, a JSON value or a text, as the content says."""

import json
import math
import re
import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import PurePath

from charset_normalizer import from_bytes
from pydantic.types import JsonValue

from agent.files.tables import is_table, read_table
from agent.programs.names import RESERVED_NAMES, assign_names, to_identifier
from agent.text import clean
from domain.errors import UsageError
from domain.given_file import FileKind, GivenFile

_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_CODECS = ["cp1252", "cp1251", "gb18030", "big5", "shift_jis", "euc_kr"]
"""Encodings that are tried for text that is not UTF-8."""
_BINARY = (
    (b"%PDF", "a PDF: copy its text into a file"),
    (b"PK\x03\x04", "a ZIP or a workbook: save a workbook's sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "a document or workbook of Office: save it as CSV or as text"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"\x1f\x8b", "compressed: unpack it"),
)
"""First bytes of binary formats, each with what the error says about it."""
_NO_CHARACTER = re.compile("[\0\ud800-\udfff]")
"""NUL, which databases refuse, and halves of surrogate pairs, which UTF-8 cannot encode."""
_DIGITS = re.compile(rf"\d{{{sys.get_int_max_str_digits() + 1},}}")
"""A number that is too long for ``int``; Python refuses it to bound the time of the conversion."""
_NO_CHARACTERS = "NUL or half of a surrogate pair"
"""``_NO_CHARACTER`` in words."""
_NAME = 120
"""Characters of a file's name."""
_DEEPEST = 40
"""Levels of a JSON value."""


@dataclass(frozen=True, slots=True)
class FileLimits:
    """Limits of attached files."""

    bytes: int = 1_048_576
    """Bytes of one file."""
    rows: int = 20_000
    """Rows of a table, or items of a JSON list."""
    files: int = 5
    """Files of one question."""


def read_file(name: str, data: bytes, limits: FileLimits, taken: Collection[str] = ()) -> GivenFile:
    """Parse an attached file.

    Args:
        name: the file's name as uploaded, possibly with a path.
        data: its content.
        limits: what it may not exceed.
        taken: names that its variable may not have.

    Raises:
        UsageError: it is too large, empty, not a text, or broken JSON or a broken table; the message says where.
    """
    shown = clean(PurePath(name.replace("\\", "/")).name, _NAME) or "file"
    if len(data) > limits.bytes:
        raise UsageError(f"{shown} has {len(data):,} bytes; a file may have {limits.bytes:,}: give a part of it")
    text, note = _text(shown, data)
    if not text.strip():
        raise UsageError(f"{shown} is empty: there is nothing in it to ask about")
    suffix = PurePath(shown).suffix.lower()
    variable = free_name(_variable(shown), taken)
    found = _json(shown, text, certain=suffix in (".json", ".jsonl", ".ndjson"))
    kind: FileKind = "text"
    value: JsonValue = text
    if found is not None:
        kind, value = "json", found[0]
    elif is_table(text, certain=suffix in (".csv", ".tsv")):
        table = read_table(shown, text, limits.rows)
        return GivenFile(
            name=shown,
            variable=variable,
            kind="table",
            rows=len(table.rows),
            characters=len(text),
            columns=table.columns,
            note=note,
            value=[*table.rows],
        )
    rows = len(value) if isinstance(value, list) else 0
    if rows > limits.rows:
        raise UsageError(f"{shown} has {rows:,} items; a file may have {limits.rows:,}: give a part of it")
    return GivenFile(name=shown, variable=variable, kind=kind, rows=rows, characters=len(text), note=note, value=value)


def free_name(variable: str, taken: Collection[str]) -> str:
    """Return the variable's name, with a suffix if it is reserved or among ``taken``."""
    [(name, _)] = assign_names([variable], lambda one: (one,), {*RESERVED_NAMES, *taken})
    return name


def _variable(name: str) -> str:
    """Make a variable's name of a file's name; it begins with a letter."""
    made = to_identifier(PurePath(name).stem.lower(), "file")
    return made if made[0].isalpha() else f"file_{made}"


def _text(name: str, data: bytes) -> tuple[str, str]:
    """Decode a file; the second value is a note if the encoding had to be guessed, else empty.

    Raises:
        UsageError: it is in a binary format, in no known encoding, or contains NUL.
    """
    said = next((said for mark, said in _BINARY if data.startswith(mark)), "")
    if said:
        raise UsageError(f"{name} is {said}. Files with a question are CSV, JSON or plain text")
    codec = next((codec for mark, codec in _MARKS if data.startswith(mark)), "utf-8")
    note = ""
    try:
        text = data.decode(codec)
    except UnicodeDecodeError:
        # NUL bytes mean binary data or UTF-16 without a byte order mark, which no single-byte codec may be guessed for.
        guessed = None if b"\0" in data else from_bytes(data, cp_isolation=_CODECS).best()
        if guessed is None:
            raise UsageError(f"{name} is no text that can be read: save it as UTF-8") from None
        text, note = str(guessed), f"no UTF-8: read as {guessed.encoding}"
    if "\0" in text:
        raise UsageError(
            f"{name} is no text: it holds NUL characters. Files with a question are CSV, JSON or plain text"
        )
    return text.replace("\r\n", "\n").replace("\r", "\n"), note


def _json(name: str, text: str, *, certain: bool) -> tuple[JsonValue] | None:
    """Parse a text as JSON or JSON lines; None if it is neither.

    The value is in a tuple, since it may itself be None. JSON lines become the list of their values.

    Args:
        name: the file's name for errors.
        text: the whole text.
        certain: the file's suffix says that it is JSON, so a text that cannot be parsed is an error.

    Raises:
        UsageError: it holds something that cannot be stored, or it cannot be parsed although ``certain`` or its first
            line say that it is JSON.
    """
    stripped = text.strip()
    if not certain and not stripped.startswith(("{", "[")):
        return None
    try:
        return (_checked(name, json.loads(stripped)),)
    except RecursionError:
        raise _too_deep(name) from None
    except ValueError as error:
        # Several values one after the other are no JSON; if the first line is a value by itself, they are JSON lines.
        first, *more = stripped.split("\n")
        if more and _is_json(first):
            return (_lines(name, text),)
        if not certain:
            return None
        if isinstance(error, json.JSONDecodeError):
            what, line, column = error.msg, error.lineno, error.colno
        else:  # the only other ValueError: a number with more digits than Python converts, which has no position
            at = digits.start() if (digits := _DIGITS.search(stripped)) else 0
            what, line = "a number with too many digits", stripped.count("\n", 0, at) + 1
            column = at - stripped.rfind("\n", 0, at)
        raise UsageError(f"{name} is no JSON that can be read: {what} in line {line}, column {column}") from None


def _lines(name: str, text: str) -> JsonValue:
    """Parse JSON lines into the list of their values; empty lines are skipped."""
    found: list[JsonValue] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                found.append(_checked(name, json.loads(line), f"line {number} "))
            except (ValueError, RecursionError):
                raise UsageError(f"{name} has no JSON that can be read in line {number}") from None
    return found


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _checked(name: str, value: JsonValue, line: str = "") -> JsonValue:
    """Return ``value`` if it can be written as JSON again.

    ``json.loads`` accepts more than that: NaN, numbers beyond a double, and halves of surrogate pairs.

    Args:
        name: the file's name for errors.
        value: the parsed value.
        line: for JSON lines, the line of the value with a trailing space: ``"line 3 "``.

    Raises:
        UsageError: it is nested too deeply, or holds such a value; the message says where.
    """
    # Level by level instead of recursively: a deep value would exceed Python's recursion limit.
    level: list[tuple[str, JsonValue]] = [("", value)]
    for _ in range(_DEEPEST):
        for place, one in level:
            if wrong := _unwritable(one):
                raise UsageError(
                    f"{name} has {wrong} in {line}{place or 'its only value'}: correct it, or leave it out"
                )
        level = [pair for place, one in level for pair in _parts(place, one)]
        if not level:
            return value
    raise _too_deep(name)


def _parts(place: str, value: JsonValue) -> Iterable[tuple[str, JsonValue]]:
    """Return the direct children of a list or an object, each with its path."""
    match value:
        case list():
            return ((f"{place}[{at}]", one) for at, one in enumerate(value))
        case dict():
            return ((f"{place}[{clean(key, 40)!r}]", one) for key, one in value.items())
        case _:
            return ()


def _unwritable(value: JsonValue) -> str:
    """Describe what in a value, apart from its children, cannot be written as JSON; empty if nothing."""
    match value:
        case float() if not math.isfinite(value):
            return "a number that is none, or is too large,"
        case str() if _NO_CHARACTER.search(value):
            return f"a text with {_NO_CHARACTERS}"
        case dict() if any(map(_NO_CHARACTER.search, value)):
            return f"a key with {_NO_CHARACTERS}"
        case _:
            return ""


def _too_deep(name: str) -> UsageError:
    return UsageError(f"{name} is nested more than {_DEEPEST} levels deep: give a flatter part of it")
