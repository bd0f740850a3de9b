"""Validation of single records: a defect is described in words with file and line, and reading goes on."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import orjson

MAX_RECORD = 64 * 1024 * 1024
"""Bytes of one line or one file. Longer ones are skipped unread, so that memory stays bounded."""


@dataclass(frozen=True, slots=True)
class SkippedInput:
    """File or record that was left out."""

    file: str
    line: int | None
    """Counted from 1; None stands for the whole file."""
    reason: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.reason}"


class RecordError(ValueError):
    """Record that cannot be used. The message says why; the reader of the file knows where."""


def describe_defect(error: Exception) -> str:
    """Describe an error that no input should cause, and what the user should do."""
    return f"the importer failed ({type(error).__name__}: {str(error)[:200]}); please report this with the document"


Record = dict[str, object]


def load(body: bytes) -> Record:
    """Parse one JSON object.

    Raises:
        RecordError: not UTF-8, not JSON, nested too deeply, or not an object.
    """
    return ensure_object(load_any(body), "the record")


def load_any(body: bytes) -> object:
    """Parse one JSON value of any kind. Raises as :func:`load`."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RecordError(_explain_json_error(body, error)) from error


def _explain_json_error(body: bytes, error: orjson.JSONDecodeError) -> str:
    try:
        body.decode()
    except UnicodeDecodeError as at:
        return f"not UTF-8 (byte {at.start}); convert the file to UTF-8"
    if "depth" in str(error) or "ecursion" in str(error):
        return "nested more than 1,024 levels deep: it holds a cycle, or is no such record"
    return f"not JSON ({error})"


def read_capped(path: str | Path) -> bytes:
    """Read a file of at most :data:`MAX_RECORD` bytes. Raises ``RecordError`` for a longer one, and ``OSError``."""
    with open(path, "rb", buffering=0) as stream:  # noqa: PTH123 - half as costly as Path.open, a million times
        if os.fstat(stream.fileno()).st_size > MAX_RECORD:
            raise RecordError(f"longer than {MAX_RECORD >> 20} MiB")
        return stream.readall()


def ensure_object(value: object, what: str) -> Record:
    """Return a value as a mapping. Raises ``RecordError``."""
    if not isinstance(value, dict):
        raise RecordError(f"{what} must be an object, not {_describe_kind(value)}")
    return cast(Record, value)


def ensure_list(value: object, what: str) -> list[object]:
    """Return a value as a list; None becomes an empty one. Raises ``RecordError``."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise RecordError(f"{what} must be a list, not {_describe_kind(value)}")
    return cast(list[object], value)


def require_text(record: Record, key: str) -> str:
    """Return a text that must be present and not blank. Raises ``RecordError``."""
    value = record.get(key)
    if not isinstance(value, str) or not value.strip():
        raise RecordError(f"{key!r} must be a text that is not empty, not {_describe_kind(value)}")
    return value


def get_optional_text(record: Record, key: str) -> str | None:
    """Return a text, or None if it is missing or null. Raises ``RecordError`` for anything else."""
    value = record.get(key)
    if value is not None and not isinstance(value, str):
        raise RecordError(f"{key!r} must be a text or null, not {_describe_kind(value)}")
    return value


def to_json_text(value: object) -> str | None:
    """Return a value as JSON text. Texts are returned as they are; None and empty texts become None."""
    if value is None or isinstance(value, str):
        return value or None
    return orjson.dumps(value).decode()


def _describe_kind(value: object) -> str:
    """Name the JSON type of a value for an error message."""
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case str():
            return "a text" if value.strip() else "an empty text"
        case None:
            return "null"
        case bool():
            return "a truth value"
        case _:
            return "a number"
