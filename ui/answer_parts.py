"""An answer in its parts: what it says, as sentences, figures and tables; what was changed; what is missing; what it rests on.

An answer comes as text, in which a server puts records a line each and what it adds itself in lines of its own. What is of no such form stays
text.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

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
_LEAST = 3
"""Parts that make a list of a line."""
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
            said.append(line)
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


def _parts(lines: Sequence[str]) -> Iterator[Part]:
    """Neighbouring records of the same fields are one table, neighbouring other lines one text."""
    at, plain = 0, list[str]()
    while at < len(lines):
        records = _records(lines[at:]) or _named(lines[at:])
        part: Part | None = records if records else _listed(lines[at])
        if part is None:
            plain.append(lines[at])
            at += 1
            continue
        if any(plain):
            yield Sentences("\n".join(plain).strip())
        plain = []
        yield part
        at += len(records.rows) if records else 1
    if any(plain):
        yield Sentences("\n".join(plain).strip())


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


def _named(lines: Sequence[str]) -> Table | None:
    """The first lines, as far as each is a name and its value; at least two."""
    rows: list[tuple[str, ...]] = []
    for line in lines:
        name, sep, value = line.removeprefix("- ").partition(": ")
        if _listed(line) or not sep or not _is_name(name) or not value.strip() or len(value) > _VALUE:
            break
        rows.append((name, value.strip()))
    return Table(tuple(rows)) if len(rows) > 1 else None


def _listed(line: str) -> Part | None:
    """A line that lists things with semicolons between them: with names and values, records of them, or neither."""
    reference = _REFERENCE.search(line)
    bare = line[: reference.start()] if reference else line
    parts = [one.strip() for one in bare.split("; ") if one.strip()]
    if len(parts) < _LEAST:
        return None
    pairs = [one.partition(": ") for one in parts]
    told = reference[1] if reference else ""
    if not all(sep and _is_name(name) for name, sep, _ in pairs):
        return Items(tuple(parts))
    names = [name for name, _, _ in pairs]
    width = names.index(names[0], 1) if names.count(names[0]) > 1 else len(names)
    if 1 < width < len(names) and names == names[:width] * (len(names) // width):
        values = [value for _, _, value in pairs]
        rows = tuple(tuple(values[start : start + width]) for start in range(0, len(values), width))
        return Table(rows, tuple(names[:width]), told)
    return Table(tuple((name, value) for name, _, value in pairs), (), told)


def _is_name(name: str) -> bool:
    return 0 < len(name) <= _NAME and not name.endswith((".", "!", "?"))
