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

from agent.files.table_parsing import is_table, read_table
from agent.programs.function_names import RESERVED_NAMES, assign_names, to_identifier
from agent.text import clean_text
from domain.errors import UsageError
from domain.given_file import FileKind, GivenFile

_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_FALLBACK_CODECS = ["cp1252", "cp1251", "gb18030", "big5", "shift_jis", "euc_kr"]
"""Encodings that are tried for text that is not UTF-8."""
_BINARY_SIGNATURES = (
    (b"%PDF", "a PDF: copy its text into a file"),
    (b"PK\x03\x04", "a ZIP or a workbook: save a workbook's sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "a document or workbook of Office: save it as CSV or as text"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"\x1f\x8b", "compressed: unpack it"),
)
"""First bytes of binary formats, each with what the error says about it."""
_FORBIDDEN_CHARACTER = re.compile("[\0\ud800-\udfff]")
"""NUL, which databases refuse, and halves of surrogate pairs, which UTF-8 cannot encode."""
_OVERLONG_NUMBER = re.compile(rf"\d{{{sys.get_int_max_str_digits() + 1},}}")
"""A number that is too long for ``int``; Python refuses it to bound the time of the conversion."""
_FORBIDDEN_CHARACTER_NAMES = "NUL or half of a surrogate pair"
"""``_FORBIDDEN_CHARACTER`` in words."""
_MAX_NAME_CHARS = 120
"""Characters of a file's name."""
_MAX_DEPTH = 40
"""Levels of a JSON value."""


@dataclass(frozen=True, slots=True)
class FileLimits:
    """Limits of attached files."""

    max_bytes: int = 1_048_576
    """Bytes of one file."""
    max_rows: int = 20_000
    """Rows of a table, or items of a JSON list."""
    max_files: int = 5
    """Files of one question."""


def read_file(name: str, data: bytes, limits: FileLimits, reserved_names: Collection[str] = ()) -> GivenFile:
    """Parse an attached file.

    Args:
        name: the file's name as uploaded, possibly with a path.
        data: its content.
        limits: what it may not exceed.
        reserved_names: names that its variable may not have.

    Raises:
        UsageError: it is too large, empty, not a text, or broken JSON or a broken table; the message says where.
    """
    display_name = clean_text(PurePath(name.replace("\\", "/")).name, _MAX_NAME_CHARS) or "file"
    if len(data) > limits.max_bytes:
        raise UsageError(
            f"{display_name} has {len(data):,} bytes; a file may have {limits.max_bytes:,}: give a part of it"
        )
    text, note = _decode_text(display_name, data)
    if not text.strip():
        raise UsageError(f"{display_name} is empty: there is nothing in it to ask about")
    suffix = PurePath(display_name).suffix.lower()
    variable = assign_free_variable(_to_variable(display_name), reserved_names)
    parsed = _parse_json(display_name, text, expected=suffix in (".json", ".jsonl", ".ndjson"))
    kind: FileKind = "text"
    value: JsonValue = text
    if parsed is not None:
        kind, value = "json", parsed[0]
    elif is_table(text, expected=suffix in (".csv", ".tsv")):
        table = read_table(display_name, text, limits.max_rows)
        return GivenFile(
            name=display_name,
            variable=variable,
            kind="table",
            rows=len(table.rows),
            characters=len(text),
            columns=table.columns,
            note=note,
            value=[*table.rows],
        )
    rows = len(value) if isinstance(value, list) else 0
    if rows > limits.max_rows:
        raise UsageError(f"{display_name} has {rows:,} items; a file may have {limits.max_rows:,}: give a part of it")
    return GivenFile(
        name=display_name, variable=variable, kind=kind, rows=rows, characters=len(text), note=note, value=value
    )


def assign_free_variable(variable: str, reserved_names: Collection[str]) -> str:
    """Return the variable's name, with a suffix if it is reserved or among ``reserved_names``."""
    [(name, _)] = assign_names([variable], lambda one: (one,), {*RESERVED_NAMES, *reserved_names})
    return name


def _to_variable(name: str) -> str:
    """Make a variable's name of a file's name; it begins with a letter."""
    identifier = to_identifier(PurePath(name).stem.lower(), "file")
    return identifier if identifier[0].isalpha() else f"file_{identifier}"


def _decode_text(name: str, data: bytes) -> tuple[str, str]:
    """Decode a file; the second value is a note if the encoding had to be guessed, else empty.

    Raises:
        UsageError: it is in a binary format, in no known encoding, or contains NUL.
    """
    description = next((description for mark, description in _BINARY_SIGNATURES if data.startswith(mark)), "")
    if description:
        raise UsageError(f"{name} is {description}. Files with a question are CSV, JSON or plain text")
    codec = next((codec for mark, codec in _BYTE_ORDER_MARKS if data.startswith(mark)), "utf-8")
    note = ""
    try:
        text = data.decode(codec)
    except UnicodeDecodeError:
        # NUL bytes mean binary data or UTF-16 without a byte order mark, which no single-byte codec may be guessed for.
        guessed = None if b"\0" in data else from_bytes(data, cp_isolation=_FALLBACK_CODECS).best()
        if guessed is None:
            raise UsageError(f"{name} is no text that can be read: save it as UTF-8") from None
        text, note = str(guessed), f"no UTF-8: read as {guessed.encoding}"
    if "\0" in text:
        raise UsageError(
            f"{name} is no text: it holds NUL characters. Files with a question are CSV, JSON or plain text"
        )
    return text.replace("\r\n", "\n").replace("\r", "\n"), note


def _parse_json(name: str, text: str, *, expected: bool) -> tuple[JsonValue] | None:
    """Parse a text as JSON or JSON lines; None if it is neither.

    The value is in a tuple, since it may itself be None. JSON lines become the list of their values.

    Args:
        name: the file's name for errors.
        text: the whole text.
        expected: the file's suffix says that it is JSON, so a text that cannot be parsed is an error.

    Raises:
        UsageError: it holds something that cannot be stored, or it cannot be parsed although ``expected`` or its first
            line say that it is JSON.
    """
    stripped = text.strip()
    if not expected and not stripped.startswith(("{", "[")):
        return None
    try:
        return (_check_json(name, json.loads(stripped)),)
    except RecursionError:
        raise _build_depth_error(name) from None
    except ValueError as error:
        # Several values one after the other are no JSON; if the first line is a value by itself, they are JSON lines.
        first, *more = stripped.split("\n")
        if more and _is_json(first):
            return (_parse_json_lines(name, text),)
        if not expected:
            return None
        if isinstance(error, json.JSONDecodeError):
            problem, line, column = error.msg, error.lineno, error.colno
        else:  # the only other ValueError: a number with more digits than Python converts, which has no position
            position = digits.start() if (digits := _OVERLONG_NUMBER.search(stripped)) else 0
            problem, line = "a number with too many digits", stripped.count("\n", 0, position) + 1
            column = position - stripped.rfind("\n", 0, position)
        raise UsageError(f"{name} is no JSON that can be read: {problem} in line {line}, column {column}") from None


def _parse_json_lines(name: str, text: str) -> JsonValue:
    """Parse JSON lines into the list of their values; empty lines are skipped."""
    values: list[JsonValue] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                values.append(_check_json(name, json.loads(line), f"line {number} "))
            except (ValueError, RecursionError):
                raise UsageError(f"{name} has no JSON that can be read in line {number}") from None
    return values


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _check_json(name: str, value: JsonValue, line_prefix: str = "") -> JsonValue:
    """Return ``value`` if it can be written as JSON again.

    ``json.loads`` accepts more than that: NaN, numbers beyond a double, and halves of surrogate pairs.

    Args:
        name: the file's name for errors.
        value: the parsed value.
        line_prefix: for JSON lines, the line of the value with a trailing space: ``"line 3 "``.

    Raises:
        UsageError: it is nested too deeply, or holds such a value; the message says where.
    """
    # Level by level instead of recursively: a deep value would exceed Python's recursion limit.
    level: list[tuple[str, JsonValue]] = [("", value)]
    for _ in range(_MAX_DEPTH):
        for place, item in level:
            if problem := _find_unwritable_part(item):
                raise UsageError(
                    f"{name} has {problem} in {line_prefix}{place or 'its only value'}: correct it, or leave it out"
                )
        level = [pair for place, item in level for pair in _list_children(place, item)]
        if not level:
            return value
    raise _build_depth_error(name)


def _list_children(place: str, value: JsonValue) -> Iterable[tuple[str, JsonValue]]:
    """Return the direct children of a list or an object, each with its path."""
    match value:
        case list():
            return ((f"{place}[{index}]", item) for index, item in enumerate(value))
        case dict():
            return ((f"{place}[{clean_text(key, 40)!r}]", item) for key, item in value.items())
        case _:
            return ()


def _find_unwritable_part(value: JsonValue) -> str:
    """Describe what in a value, apart from its children, cannot be written as JSON; empty if nothing."""
    match value:
        case float() if not math.isfinite(value):
            return "a number that is none, or is too large,"
        case str() if _FORBIDDEN_CHARACTER.search(value):
            return f"a text with {_FORBIDDEN_CHARACTER_NAMES}"
        case dict() if any(map(_FORBIDDEN_CHARACTER.search, value)):
            return f"a key with {_FORBIDDEN_CHARACTER_NAMES}"
        case _:
            return ""


def _build_depth_error(name: str) -> UsageError:
    return UsageError(f"{name} is nested more than {_MAX_DEPTH} levels deep: give a flatter part of it")
