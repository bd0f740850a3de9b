"""An answer in its parts: what it says, as sentences, figures and tables; what was changed; what is missing; what it rests on.

An answer comes as text, in which a server puts records a line each and what it adds itself in lines of its own. What is of no such form stays
text.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ui.answer_markdown import bullet, plain_line, table_lines

_BASED = "Based on: "
_LEADS: dict[str, "NoteKind"] = {
    "Done: ": "done",
    "Not done: ": "not_done",
    "Whether ": "unknown",
    "Not all of it is answered: ": "missing",
    "Missing: ": "missing",
    "This could not be answered: ": "failed",
    "Considered to start with: ": "considered",
    "No call was made for: ": "aside",
}
_WHOLE = ("Whether ", "No call was made for: ")
"""Lines of which the beginning is told, too."""
_SOURCE = re.compile(r"((?:\[\d+\][ …]*)+)([^\[]+?)(?:, (?=\[)|$)")
_REFERENCE = re.compile(r"\s*((?:\[\d+\])+)$")
_FIELD = re.compile(r", (?=[\w .-]{1,40}: )")
_TOLD = re.compile(r"[^/:]+/.+ gave no answer: |Nothing else served: |Not answered: ")
"""How sentences of the server begin that have a colon in them."""
_SENTENCE = re.compile(r"[\w)]{3,}[.!?][\"'”’)]*(?:\s+[^\W\d_a-z]|$)|\d[.!?](?:\s+[^\W\d_a-z]|$)|[。！？]")
"""The end of a sentence; no word of two letters, which may be short for another."""
_LEAST = 3
"""Pairs that make a table of a line of which nothing else says that it is a record."""
_NAME = 60
_VALUE = 160
"""Characters of a value beside a name; what is longer is a text with a colon in it."""
_WORD = re.compile(r"[^\W_]+(?:\.\d+)?")
_STEM = 5
NoteKind = Literal["done", "not_done", "unknown", "missing", "failed", "considered", "aside"]


@dataclass(frozen=True)
class Sentences:
    """Text as it is."""

    text: str


@dataclass(frozen=True)
class Items:
    """Things one after the other that have no fields."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """``heads``: empty where each row is a name and its value. ``reference``: the call that it is from, as ``[2]``."""

    rows: tuple[tuple[str, ...], ...]
    heads: tuple[str, ...] = ()
    reference: str = ""


@dataclass(frozen=True)
class Note:
    """A line that the server adds; of what is told by how it begins, only the rest."""

    kind: NoteKind
    text: str


@dataclass(frozen=True)
class Source:
    """A tool, as ``Set/api``, with the numbers of its calls."""

    tool: str
    calls: str


Part = Sentences | Items | Table


@dataclass(frozen=True)
class AnswerParts:
    """``said``: the answer itself."""

    said: tuple[Part, ...] = ()
    notes: tuple[Note, ...] = ()
    sources: tuple[Source, ...] = ()

    def of(self, *kinds: NoteKind) -> list[Note]:
        """Its notes of these kinds."""
        return [one for one in self.notes if one.kind in kinds]


def answer_parts(text: str) -> AnswerParts:
    """What an answer is made of."""
    lines = [line.strip() for line in text.strip().splitlines()]
    said: list[str] = []
    notes: list[Note] = []
    sources: list[Source] = []
    for line in lines:
        lead = next((one for one in _LEADS if line.startswith(one)), "")
        if line.startswith(_BASED):
            sources += [Source(found[2].strip(), found[1].strip()) for found in _SOURCE.finditer(line[len(_BASED) :])]
        elif lead and (lead != "Whether " or "is unknown: " in line):
            notes.append(Note(_LEADS[lead], line if lead in _WHOLE else line.removeprefix(lead)))
        else:
            said.append(plain_line(line))
    return AnswerParts(tuple(_parts(said)), tuple(notes), tuple(dict.fromkeys(sources)))


def asked_first(table: Table, request: str, sent: Collection[str] = ()) -> tuple[Table, int]:
    """A record with the fields first that a request names, then the others whose values were not ``sent`` to its call or given by the request; and how
    many of the first there are.
    """
    if table.heads:
        return table, 0
    said = {_stem(one) for one in _WORD.findall(request)}
    given = {one.casefold() for one in (*_WORD.findall(request), *sent)}

    def rank(row: tuple[str, ...]) -> tuple[bool, bool]:
        name, value = row
        words = {one.casefold() for one in _WORD.findall(value)}
        new = not (value.casefold() in given or (words and words <= given))
        return not (new and said & {_stem(one) for one in _WORD.findall(name)}), not new

    rows = sorted(table.rows, key=rank)
    return replace(table, rows=tuple(rows)), sum(not rank(row)[0] for row in rows)


def _stem(word: str) -> str:
    """What a word and its forms have in common, roughly: ``convert`` and ``converted``."""
    return word.casefold()[:_STEM]


@dataclass(frozen=True)
class _Line:
    """A line of names and their values. ``ruled``: it has the form in which rules write a record, ``name: value; name: value [1]``."""

    pairs: tuple[tuple[str, str], ...]
    reference: str
    ruled: bool

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.pairs)

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(value for _, value in self.pairs)


def _parts(lines: Sequence[str]) -> Iterator[Part]:
    """Neighbouring records of the same fields are one table, neighbouring lines of a list one list, neighbouring other lines one text."""
    at, plain = 0, list[str]()
    while at < len(lines):
        part, taken = _part(lines[at:])
        if part is None:
            plain.append(lines[at])
        else:
            if any(plain):
                yield Sentences("\n".join(plain).strip())
            plain = []
            yield part
        at += taken
    if any(plain):
        yield Sentences("\n".join(plain).strip())


def _part(lines: Sequence[str]) -> tuple[Part | None, int]:
    """What the first lines are, and how many of them; nothing of one that is text."""
    if marked := table_lines(lines):
        heads, rows = marked
        return Table(tuple(rows), heads), len(rows) + 2
    if table := _records(lines) or _fields(lines):
        return table, len(table.rows)
    if listed := _listed(lines[0]):
        return listed, 1
    table, taken = _named(lines)
    if table is not None:
        return table, taken
    items = [bullet(line) for line in _while(lines, bullet)]
    return (Items(tuple(items)), len(items)) if items else (None, 1)


def _while(lines: Sequence[str], such: Callable[[str], object]) -> Sequence[str]:
    """The first lines, as far as they are such ones."""
    return lines[: next((at for at, line in enumerate(lines) if not such(line)), len(lines))]


def _records(lines: Sequence[str]) -> Table | None:
    """The first lines, as far as they are records of the same fields; at least two of at least two."""
    rows: list[tuple[str, ...]] = []
    heads: tuple[str, ...] = ()
    for line in lines:
        fields = [one.partition(": ") for one in _FIELD.split(line)]
        names = tuple(name for name, _, _ in fields)
        if len(names) < 2 or not all(sep and _is_name(name) for name, sep, _ in fields) or names != (heads or names):
            break
        heads = names
        rows.append(tuple(value for _, _, value in fields))
    return Table(tuple(rows), heads) if len(rows) > 1 else None


def _fields(lines: Sequence[str]) -> Table | None:
    """The same of records that have semicolons between their fields."""
    found: list[_Line] = []
    for line in lines:
        one = _line(line)
        if one is None or len(set(one.names)) < max(len(one.names), 2) or one.names != (found or [one])[0].names:
            break
        found.append(one)
    if len(found) < 2:
        return None
    rows, reference = _with_references(found)
    return Table(tuple(tuple(value for _, value in row) for row in rows), found[0].names, reference)


def _named(lines: Sequence[str]) -> tuple[Table | None, int]:
    """The first lines, as far as each has names and their values, and how many they are; at least two. A list of which only some are so stays one."""
    found: list[_Line] = []
    for line in lines:
        one = _line(line)
        if one is None or (found and _listed(line)) or any(len(value) > _VALUE for value in one.values):
            break
        found.append(one)
    taken = len(found)
    if taken < 2 or (
        not found[-1].ruled and all(bullet(line) for line in lines[taken - 1 : taken + 1]) and taken < len(lines)
    ):
        return None, taken
    rows, reference = _with_references(found)
    return Table(tuple(pair for row in rows for pair in row), (), reference), taken


def _with_references(found: Sequence[_Line]) -> tuple[list[tuple[tuple[str, str], ...]], str]:
    """The pairs of each line, and the call that all of them are of; where they are of several, each line's last value has its own."""
    if len({one.reference for one in found}) == 1:
        return [one.pairs for one in found], found[0].reference
    return [(*one.pairs[:-1], (one.pairs[-1][0], f"{one.pairs[-1][1]} {one.reference}".strip())) for one in found], ""


def _listed(line: str) -> Table | None:
    """A line of several names and values with semicolons between them, as a table: of records where the names come again."""
    one = _line(line)
    if one is None or len(one.pairs) < (2 if one.ruled else _LEAST):
        return None
    names, values = one.names, one.values
    width = names.index(names[0], 1) if names.count(names[0]) > 1 else len(names)
    if 1 < width < len(names) and names == names[:width] * (len(names) // width):
        rows = tuple(values[start : start + width] for start in range(0, len(values), width))
        return Table(rows, names[:width], one.reference)
    return Table(one.pairs, (), one.reference)


def _line(line: str) -> _Line | None:
    """A line whose parts between semicolons all have a name and a value. One that holds sentences has not, unless rules wrote it."""
    if _TOLD.match(line):
        return None
    reference = _REFERENCE.search(line)
    bare = line[: reference.start()] if reference else line
    parts = [one.strip().partition(": ") for one in (bullet(bare) or bare).split("; ") if one.strip()]
    pairs = tuple((name, value.strip()) for name, _, value in parts)
    if not pairs or not all(_is_name(name) and value for name, value in pairs):
        return None
    ruled = reference is not None and all(name == name.lower() for name, _ in pairs)
    if not ruled and any(_SENTENCE.search(text) for pair in pairs for text in pair):
        return None
    return _Line(pairs, reference[1] if reference else "", ruled)


def _is_name(name: str) -> bool:
    return 0 < len(name) <= _NAME and not name.endswith((".", "!", "?"))
