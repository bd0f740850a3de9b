"""A request laid over a pattern, word by word: what stands where the inputs are. What only one of the two says keeps them apart.

In a pattern ``{name}`` is an input, and ``{what is|tell me}`` are words that may stand for one another; an empty one among them may be left out. No
language is known here: letters, digits and signs have to be the same, and only marks of sentences, quotation marks and the capital of the first word may
differ.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

MARKS = r".,;:!?¡¿。，、；：！？…\"“”„«»‘’'「」『』《》()（）\s"
"""What says nothing by itself: marks of sentences, quotation marks, blanks."""
_HOLE = re.compile(r"\{([^{}]*)\}")
_PART = re.compile(rf"[{MARKS}]+|\w+|[^\w{MARKS}]+")
QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|«([^»]+)»|„([^“”]+)[“”]|「([^」]+)」|『([^』]+)』|《([^》]+)》")
_LONGEST = 600
"""Characters of a request or pattern that are compared."""
_MOST_INPUTS = 6
_VALUE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class SaidValue:
    """What a request says in the place of an input. ``opens``: it stands where a sentence begins. ``quoted``: between quotation marks."""

    text: str
    quoted: bool = False
    opens: bool = False


def aligned(request: str, pattern: str) -> dict[str, SaidValue] | None:
    """What stands where the inputs are; None where request and pattern differ in anything else, or it can be seen in more than one way."""
    if len(request) > _LONGEST:
        return None
    forms = _forms(pattern)
    if forms is None:
        return None
    near, far = (form.fullmatch(request) or form.fullmatch(_begun_otherwise(request)) for form in forms)
    if near is None or far is None or near.regs != far.regs:
        return None
    quotes = [(hit.span(), hit.span(hit.lastindex or 0)) for hit in QUOTED.finditer(request)]
    found = {name: _said(request, near.span(name), quotes) for name in near.groupdict()}
    known = {name: value for name, value in found.items() if value is not None}
    return known if len(known) == len(found) else None


def inputs_of(pattern: str) -> list[str]:
    """The inputs that a pattern names, in order, as often as it does."""
    return [one for one in _HOLE.findall(pattern) if one.isidentifier()]


def fixed_words(pattern: str) -> int:
    """How many words a request has to say at least, beside its values, to be laid over a pattern."""
    held = sum(min(_words(option) for option in one.split("|")) for one in _HOLE.findall(pattern) if "|" in one)
    return held + _words(_HOLE.sub(" ", pattern))


def literals(pattern: str) -> str:
    """What a pattern says beside its inputs."""
    return " ".join(
        _HOLE.sub(lambda hit: " " if hit[1].isidentifier() else f" {hit[1].replace('|', ' ')} ", pattern).split()
    )


def as_read(pattern: str) -> str:
    """A pattern with the first of the words that may stand for one another, so that braces are inputs alone."""
    return _HOLE.sub(lambda hit: hit[0] if hit[1].isidentifier() else hit[1].partition("|")[0], pattern)


def _begun_otherwise(request: str) -> str:
    """With a capital at the beginning, or without."""
    return request[:1].swapcase() + request[1:]


def _words(text: str) -> int:
    return len(re.findall(r"\w+", text))


def _said(
    request: str, span: tuple[int, int], quotes: Sequence[tuple[tuple[int, int], tuple[int, int]]]
) -> SaidValue | None:
    """What stands at a place, all of it where that is between quotation marks; None where it is a part of such, and more."""
    start, end = span
    around = [one for one in quotes if one[0][0] < end and start < one[0][1]]
    if not around:
        before = request[:start].rstrip()
        return SaidValue(request[start:end], opens=not re.search(r"\w", before) or before[-1:] in ".!?。！？")
    whole, inner = around[0]
    rest = request[inner[0] : start] + request[end : inner[1]]
    inside = whole[0] <= start and end <= whole[1]
    if len(around) > 1 or not inside or re.search(rf"[^{MARKS}]", rest):
        return None
    return SaidValue(request[inner[0] : inner[1]], quoted=True)


@lru_cache(maxsize=4096)
def _forms(pattern: str) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    """The pattern with its values as short as they can be, and as long; None where it is no pattern that can be compared."""
    names = inputs_of(pattern)
    if len(pattern) > _LONGEST or len(names) > _MOST_INPUTS or len(set(names)) < len(names):
        return None
    text = "".join(_parts(pattern.strip(_STRIPPED)))
    return re.compile(text.replace(_VALUE, "?"), re.DOTALL), re.compile(text.replace(_VALUE, ""), re.DOTALL)


_VALUE = "\x00"
_STRIPPED = " .,;:!?¡¿。，、；：！？…"


def _parts(pattern: str) -> Iterator[str]:
    """Regular expressions of its parts, those of values with a mark where they are as short, or as long, as they can be."""
    yield f"[{MARKS}]*"
    at, loose = 0, False
    for hit in _HOLE.finditer(pattern):
        yield from _literal(pattern[at : hit.start()], loose=loose or _may_be_empty(hit[1]))
        if hit[1].isidentifier():
            yield rf"(?P<{hit[1]}>[^{MARKS}](?:.{{0,{_VALUE_LENGTH}}}{_VALUE}[^{MARKS}])?{_VALUE})"
        elif "|" in hit[1]:
            options = ("".join(_literal(option.strip(), loose=False)) for option in hit[1].split("|"))
            yield f"(?:{'|'.join(options)})"
        else:
            yield from _literal(hit[1], loose=False)
        at, loose = hit.end(), _may_be_empty(hit[1])
    yield from _literal(pattern[at:], loose=loose)
    yield f"[{MARKS}]*"


def _may_be_empty(hole: str) -> bool:
    return "|" in hole and any(not option.strip() for option in hole.split("|"))


def _literal(text: str, *, loose: bool) -> Iterator[str]:
    """Words and signs as they are. ``loose``: the marks beside it may be missing, since what they separate may be."""
    for part in _PART.findall(text):
        marks = re.fullmatch(rf"[{MARKS}]+", part)
        yield (f"[{MARKS}]{'*' if loose else '+'}" if marks else re.escape(part))
