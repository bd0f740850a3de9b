"""Streaming reader of JSON arrays: files of hundreds of megabytes are read in the memory of one item."""

import codecs
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from graph.importers.records import MAX_RECORD, RecordError

_CHUNK_SIZE = 1 << 20
_BLANK = " \t\r\n"
_DECODER = json.JSONDecoder()
_ReadMore = Callable[[int], str]
"""Reads up to the given number of bytes and returns them as text; empty at the end of the file."""


def read_items(path: Path) -> Iterator[object]:
    """Yield the items of the array in a file.

    Raises:
        RecordError: the file holds no array, or is broken at an item; the message gives its number.
        OSError: the file cannot be read.
    """
    with path.open("rb", buffering=0) as stream:  # read in large pieces already
        decoder = codecs.getincrementaldecoder("utf-8-sig")()
        number = 0

        def read_more(size: int) -> str:
            """Read the next piece as text; empty at the end of the file."""
            body = stream.read(size)
            try:
                text = decoder.decode(body, final=not body)
            except UnicodeDecodeError as error:
                raise RecordError(f"not UTF-8 near item {number + 1}; convert the file to UTF-8") from error
            return text if text or not body else read_more(size)  # the piece held only a part of one character

        text = read_more(_CHUNK_SIZE).lstrip(_BLANK)
        if not text.startswith("["):
            raise RecordError("no JSON array: it must begin with [")
        position = 1
        while True:
            text, position, ended = _skip_to_item(text, position, read_more, first=not number)
            if ended:
                return
            item, text, position = _decode_item(text, position, read_more, number + 1)
            number += 1
            yield item


def _skip_to_item(text: str, position: int, read_more: _ReadMore, *, first: bool) -> tuple[str, int, bool]:
    """Skip blanks and the comma before the next item.

    Returns the text, the position of the item in it, and whether the array ends there instead.
    """
    seen_comma = first
    while True:
        while position < len(text) and text[position] in _BLANK:
            position += 1
        if position == len(text):
            text, position = read_more(_CHUNK_SIZE), 0
            if not text:
                raise RecordError("cut off: its array has no end")
        elif text[position] == "]":
            return text, position, True
        elif text[position] == "," and not seen_comma:
            seen_comma, position = True, position + 1
        elif seen_comma:
            return text, position, False
        else:
            raise RecordError("not JSON: a comma is missing between two items of its array")


def _decode_item(text: str, position: int, read_more: _ReadMore, number: int) -> tuple[object, str, int]:
    """Decode the item at a position, and return it with the text and the position after it.

    While the item is incomplete, the text is doubled before the next attempt, so that a long item is decoded only a few
    times.
    """
    while True:
        try:
            item, end = _DECODER.raw_decode(text, position)
            if end < len(text):  # a number may continue beyond the text read so far
                return item, text, end
            problem = "its array has no end"
        except json.JSONDecodeError as error:
            problem = error.msg
        except RecursionError as error:
            raise RecordError(f"item {number} is nested too deeply: it holds a cycle, or is no such record") from error
        text, position = text[position:], 0
        if len(text) > MAX_RECORD:
            raise RecordError(f"item {number} is not JSON ({problem}), or longer than {MAX_RECORD >> 20} MiB")
        chunk = read_more(max(_CHUNK_SIZE, len(text)))
        if not chunk:
            raise RecordError(f"item {number} is not JSON ({problem})")
        text += chunk
