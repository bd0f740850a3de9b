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
    parts = _parts(pattern)
    if len(request) > _LONGEST or parts is None:
        return None
    spans = _laid_over(request, parts) or _laid_over(_begun_otherwise(request), parts)
    if spans is None:
        return None
    quotes = [(hit.span(), hit.span(hit.lastindex or 0)) for hit in QUOTED.finditer(request)]
    found = {name: _said(request, span, quotes) for name, span in spans.items() if name}
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


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a pattern: an input, by its ``name``, or texts one of which has to stand there."""

    name: str = ""
    options: tuple[re.Pattern[str], ...] = ()


_STRIPPED = " .,;:!?¡¿。，、；：！？…"
_NO_MARK = re.compile(f"[^{MARKS}]")


@lru_cache(maxsize=4096)
def _parts(pattern: str) -> tuple[_Part, ...] | None:
    """None where it is no pattern that can be compared."""
    names = inputs_of(pattern)
    if len(pattern) > _LONGEST or len(names) > _MOST_INPUTS or len(set(names)) < len(names):
        return None
    text = pattern.strip(_STRIPPED)
    found: list[_Part] = []
    at, loose, before = 0, False, f"[{MARKS}]*"
    for hit in _HOLE.finditer(text):
        own = "".join(_literal(text[at : hit.start()], loose=loose or _may_be_empty(hit[1])))
        found.append(_Part(options=(re.compile(before + own),)))
        if hit[1].isidentifier():
            found.append(_Part(hit[1]))
        else:
            options = ("".join(_literal(option.strip(), loose=False)) for option in hit[1].split("|"))
            found.append(_Part(options=tuple(map(re.compile, dict.fromkeys(options)))))
        at, loose, before = hit.end(), _may_be_empty(hit[1]), ""
    rest = "".join(_literal(text[at:], loose=loose))
    return (*found, _Part(options=(re.compile(f"{before}{rest}[{MARKS}]*"),)))


def _laid_over(request: str, parts: Sequence[_Part]) -> dict[str, tuple[int, int]] | None:
    """Where each input stands; None where the parts do not make up the whole request, or an input may stand in two places.

    Where a part may begin is a number with a bit for each place, so that its work does not grow with the ways in which parts could be put together.
    """
    begins = sum(1 << hit.start() for hit in _NO_MARK.finditer(request))
    reached, steps = [1], list[dict[int, int]]()
    for part in parts:
        steps.append({} if part.name else {place: _ends(request, part, place) for place in _bits(reached[-1])})
        after = 0
        for ends in steps[-1].values():
            after |= ends
        reached.append(_spread((reached[-1] & begins) << 1) & (begins << 1) if part.name else after)
    left = [reached[-1] & (1 << len(request))]
    for part, step, before in zip(reversed(parts), reversed(steps), reversed(reached[:-1]), strict=True):
        if part.name:
            left.append(_spread(left[-1] >> 1, back=True) & before & begins)
        else:
            left.append(sum(1 << place for place, ends in step.items() if ends & left[-1]))
    left.reverse()
    if not left[0] or any(
        part.name and (_several(left[at]) or _several(left[at + 1])) for at, part in enumerate(parts)
    ):
        return None
    places = [one.bit_length() - 1 for one in left]
    return {part.name: (places[at], places[at + 1]) for at, part in enumerate(parts)}


def _ends(request: str, part: _Part, place: int) -> int:
    hits = (option.match(request, place) for option in part.options)
    return sum({1 << hit.end() for hit in hits if hit is not None})


def _spread(places: int, *, back: bool = False) -> int:
    """These places and those behind them, as far as a value may be long."""
    width = 1
    while width < _VALUE_LENGTH + 2:
        step = min(width, _VALUE_LENGTH + 2 - width)
        places |= places >> step if back else places << step
        width += step
    return places


def _bits(places: int) -> Iterator[int]:
    while places:
        lowest = places & -places
        yield lowest.bit_length() - 1
        places ^= lowest


def _several(places: int) -> bool:
    return bool(places & (places - 1))


def _may_be_empty(hole: str) -> bool:
    return "|" in hole and any(not option.strip() for option in hole.split("|"))


def _literal(text: str, *, loose: bool) -> Iterator[str]:
    """Words and signs as they are. ``loose``: the marks beside it may be missing, since what they separate may be."""
    for part in _PART.findall(text):
        marks = re.fullmatch(rf"[{MARKS}]+", part)
        yield (f"[{MARKS}]{'*' if loose else '+'}" if marks else re.escape(part))
