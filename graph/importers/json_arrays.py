"""Streaming reader of JSON arrays: files of hundreds of megabytes are read in the memory of one item."""

import codecs
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from graph.importers.records import MAX_RECORD, RecordError

_PIECE = 1 << 20
_BLANK = " \t\r\n"
_DECODER = json.JSONDecoder()
_More = Callable[[int], str]
"""Reads up to the given number of further bytes and returns them as text; empty at the end of the file."""


def read_items(path: Path) -> Iterator[object]:
    """Yield the items of the array in a file.

    Raises:
        RecordError: the file holds no array, or is broken at an item; the message gives its number.
        OSError: the file cannot be read.
    """
    with path.open("rb", buffering=0) as stream:  # read in large pieces already
        decoder = codecs.getincrementaldecoder("utf-8-sig")()
        number = 0

        def more(size: int) -> str:
            """Read the next piece as text; empty at the end of the file."""
            body = stream.read(size)
            try:
                text = decoder.decode(body, final=not body)
            except UnicodeDecodeError as error:
                raise RecordError(f"not UTF-8 near item {number + 1}; convert the file to UTF-8") from error
            return text if text or not body else more(size)  # the piece held only part of a character

        text = more(_PIECE).lstrip(_BLANK)
        if not text.startswith("["):
            raise RecordError("no JSON array: it must begin with [")
        at = 1
        while True:
            text, at, ended = _at_item(text, at, more, first=not number)
            if ended:
                return
            item, text, at = _item(text, at, more, number + 1)
            number += 1
            yield item


def _at_item(text: str, at: int, more: _More, *, first: bool) -> tuple[str, int, bool]:
    """Move to the next item, over blanks and the comma before it. The last value is true if the array ends there."""
    comma = first
    while True:
        while at < len(text) and text[at] in _BLANK:
            at += 1
        if at == len(text):
            text, at = more(_PIECE), 0
            if not text:
                raise RecordError("cut off: its array has no end")
        elif text[at] == "]":
            return text, at, True
        elif text[at] == "," and not comma:
            comma, at = True, at + 1
        elif comma:
            return text, at, False
        else:
            raise RecordError("not JSON: a comma is missing between two items of its array")


def _item(text: str, at: int, more: _More, number: int) -> tuple[object, str, int]:
    """Decode the item at a position; returns it with the text and the position behind it.

    If the item is incomplete, as much text again is read before the next attempt, so that a long item is decoded few times only.
    """
    while True:
        try:
            item, end = _DECODER.raw_decode(text, at)
            if end < len(text):  # a number may continue beyond the text read so far
                return item, text, end
            problem = "its array has no end"
        except json.JSONDecodeError as error:
            problem = error.msg
        except RecursionError as error:
            raise RecordError(f"item {number} is nested too deeply: it holds a cycle, or is no such record") from error
        text, at = text[at:], 0
        if len(text) > MAX_RECORD:
            raise RecordError(f"item {number} is not JSON ({problem}), or longer than {MAX_RECORD >> 20} MiB")
        piece = more(max(_PIECE, len(text)))
        if not piece:
            raise RecordError(f"item {number} is not JSON ({problem})")
        text += piece
