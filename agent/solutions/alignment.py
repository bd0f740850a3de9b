"""Alignment of a request with a pattern, which yields the values of the inputs.

In a pattern, ``{name}`` is an input, and ``{what is|tell me}`` are alternatives; an empty alternative may be left
out. Any other difference between request and pattern means that they do not match. The comparison knows no
language: letters, digits and signs have to be equal; only punctuation, quotation marks and the capital of the first
word may differ.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

MARKS = r".,;:!?¡¿。，、；：！？…\"“”„«»‘’'「」『』《》()（）\s"
"""Characters without meaning of their own: punctuation, quotation marks and spaces."""
_HOLE = re.compile(r"\{([^{}]*)\}")
_PART = re.compile(rf"[{MARKS}]+|\w+|[^\w{MARKS}]+")
QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|«([^»]+)»|„([^“”]+)[“”]|「([^」]+)」|『([^』]+)』|《([^》]+)》")
_MAX_LENGTH = 600
"""Maximum characters of a request or pattern that are compared."""
_MOST_INPUTS = 6
"""Limit of inputs in a pattern."""
_VALUE_LENGTH = 80
"""Limit of the value of an input, in characters."""


@dataclass(frozen=True, slots=True)
class RequestValue:
    """The words of a request that stand in the place of an input."""

    text: str
    quoted: bool = False
    """True if they are in quotation marks."""
    opens_sentence: bool = False
    """True if they begin a sentence, so that a capital does not mark them as a name."""


def align_request(request: str, pattern: str) -> dict[str, RequestValue] | None:
    """Return the values of the inputs of a pattern, by name, as a request words them.

    None if request and pattern differ in anything else, or if a value could begin or end in two places.
    """
    parts = _parse_pattern(pattern)
    if len(request) > _MAX_LENGTH or parts is None:
        return None
    spans = _match_parts(request, parts) or _match_parts(_swap_initial_case(request), parts)
    if spans is None:
        return None
    quotes = [(hit.span(), hit.span(hit.lastindex or 0)) for hit in QUOTED.finditer(request)]
    values_found = {name: _read_value(request, span, quotes) for name, span in spans.items() if name}
    values = {name: value for name, value in values_found.items() if value is not None}
    return values if len(values) == len(values_found) else None


def list_inputs(pattern: str) -> list[str]:
    """Return the inputs that a pattern names, in order, repetitions included."""
    return [one for one in _HOLE.findall(pattern) if one.isidentifier()]


def count_fixed_words(pattern: str) -> int:
    """Return the number of words that a request must have besides its values to match a pattern."""
    alternative_words = sum(
        min(_count_words(option) for option in one.split("|")) for one in _HOLE.findall(pattern) if "|" in one
    )
    return alternative_words + _count_words(_HOLE.sub(" ", pattern))


def get_literal_text(pattern: str) -> str:
    """Return the text of a pattern without its inputs, all alternatives included."""
    return " ".join(
        _HOLE.sub(lambda hit: " " if hit[1].isidentifier() else f" {hit[1].replace('|', ' ')} ", pattern).split()
    )


def resolve_alternatives(pattern: str) -> str:
    """Return a pattern with the first of its alternatives, so that braces hold inputs only."""
    return _HOLE.sub(lambda hit: hit[0] if hit[1].isidentifier() else hit[1].partition("|")[0], pattern)


def _swap_initial_case(request: str) -> str:
    """Return a request with the case of its first letter swapped."""
    return request[:1].swapcase() + request[1:]


def _count_words(text: str) -> int:
    return len(re.findall(r"\w+", text))


def _read_value(
    request: str, span: tuple[int, int], quotes: Sequence[tuple[tuple[int, int], tuple[int, int]]]
) -> RequestValue | None:
    """Return the value at a span of the request; of a quotation, the text within the marks.

    None if the span is only part of a quotation, or reaches beyond one.
    """
    start, end = span
    around = [one for one in quotes if one[0][0] < end and start < one[0][1]]
    if not around:
        before = request[:start].rstrip()
        return RequestValue(
            request[start:end], opens_sentence=not re.search(r"\w", before) or before[-1:] in ".!?。！？"
        )
    outer, inner = around[0]
    rest = request[inner[0] : start] + request[end : inner[1]]
    inside = outer[0] <= start and end <= outer[1]
    if len(around) > 1 or not inside or re.search(rf"[^{MARKS}]", rest):
        return None
    return RequestValue(request[inner[0] : inner[1]], quoted=True)


@dataclass(frozen=True, slots=True)
class _PatternPart:
    """Part of a pattern: an input, or text, possibly with alternatives."""

    name: str = ""
    """Name of the input; empty for texts."""
    options: tuple[re.Pattern[str], ...] = ()
    """Alternative texts, one of which the request must have here."""


_STRIPPED = " .,;:!?¡¿。，、；：！？…"
_NO_MARK = re.compile(f"[^{MARKS}]")


@lru_cache(maxsize=4096)
def _parse_pattern(pattern: str) -> tuple[_PatternPart, ...] | None:
    """Return the parts of a pattern; None if it is too long or names an input twice."""
    names = list_inputs(pattern)
    if len(pattern) > _MAX_LENGTH or len(names) > _MOST_INPUTS or len(set(names)) < len(names):
        return None
    text = pattern.strip(_STRIPPED)
    parts: list[_PatternPart] = []
    # Next to an alternative that may be empty, the space or mark that separates it may be missing, too (``loose``).
    at, loose, before = 0, False, f"[{MARKS}]*"
    for hit in _HOLE.finditer(text):
        own = "".join(_build_regex(text[at : hit.start()], loose=loose or _may_be_empty(hit[1])))
        parts.append(_PatternPart(options=(re.compile(before + own),)))
        if hit[1].isidentifier():
            parts.append(_PatternPart(hit[1]))
        else:
            options = ("".join(_build_regex(option.strip(), loose=False)) for option in hit[1].split("|"))
            parts.append(_PatternPart(options=tuple(map(re.compile, dict.fromkeys(options)))))
        at, loose, before = hit.end(), _may_be_empty(hit[1]), ""
    rest = "".join(_build_regex(text[at:], loose=loose))
    return (*parts, _PatternPart(options=(re.compile(f"{before}{rest}[{MARKS}]*"),)))


def _match_parts(request: str, parts: Sequence[_PatternPart]) -> dict[str, tuple[int, int]] | None:
    """Return the span of each input; None if the parts do not cover the request in exactly one way.

    Dynamic programming over sets of positions: forward, where each part may end; backward, from which of these the
    rest of the request is covered. A set is an integer with a bit for each position, so the work does not grow with
    the number of possible combinations.
    """
    begins = sum(1 << hit.start() for hit in _NO_MARK.finditer(request))
    # Forward: all places that the parts so far may end at.
    reached, steps = [1], list[dict[int, int]]()
    for part in parts:
        steps.append(
            {} if part.name else {place: _match_ends(request, part, place) for place in _iterate_bits(reached[-1])}
        )
        after = 0
        for ends in steps[-1].values():
            after |= ends
        # A value has at least one character, and neither begins nor ends with a mark.
        reached.append(_extend_places((reached[-1] & begins) << 1) & (begins << 1) if part.name else after)
    # Backward: only places from which the rest of the parts reaches the end of the request.
    ending_places = [reached[-1] & (1 << len(request))]
    for part, step, before in zip(reversed(parts), reversed(steps), reversed(reached[:-1]), strict=True):
        if part.name:
            ending_places.append(_extend_places(ending_places[-1] >> 1, back=True) & before & begins)
        else:
            ending_places.append(sum(1 << place for place, ends in step.items() if ends & ending_places[-1]))
    ending_places.reverse()
    if not ending_places[0] or any(
        part.name and (_has_several(ending_places[at]) or _has_several(ending_places[at + 1]))
        for at, part in enumerate(parts)
    ):
        return None
    places = [one.bit_length() - 1 for one in ending_places]
    return {part.name: (places[at], places[at + 1]) for at, part in enumerate(parts)}


def _match_ends(request: str, part: _PatternPart, place: int) -> int:
    """Return the positions at which a text that begins at ``place`` may end, as bits."""
    hits = (option.match(request, place) for option in part.options)
    return sum({1 << hit.end() for hit in hits if hit is not None})


def _extend_places(places: int, *, back: bool = False) -> int:
    """Return these positions and the ones after them (before, if ``back``) within the length of a value, as bits."""
    width = 1
    while width < _VALUE_LENGTH + 2:
        step = min(width, _VALUE_LENGTH + 2 - width)
        places |= places >> step if back else places << step
        width += step
    return places


def _iterate_bits(places: int) -> Iterator[int]:
    """Yield the indices of the bits that are set."""
    while places:
        lowest = places & -places
        yield lowest.bit_length() - 1
        places ^= lowest


def _has_several(places: int) -> bool:
    """Return whether more than one bit is set."""
    return bool(places & (places - 1))


def _may_be_empty(hole: str) -> bool:
    """Return whether one of the alternatives in braces is empty."""
    return "|" in hole and any(not option.strip() for option in hole.split("|"))


def _build_regex(text: str, *, loose: bool) -> Iterator[str]:
    """Yield regular expressions for words and signs.

    With ``loose``, marks and spaces may be missing, because the text that they separate may be missing.
    """
    for part in _PART.findall(text):
        marks = re.fullmatch(rf"[{MARKS}]+", part)
        yield (f"[{MARKS}]{'*' if loose else '+'}" if marks else re.escape(part))
