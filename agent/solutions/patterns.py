"""Patterns of solutions: requests with names of inputs in place of values, as ``How old is {name}?``.

A pattern is aligned with a request to find the values of its inputs, and masked by the kinds of these values to
measure how similar it is to a request. In a pattern, ``{name}`` is an input, and ``{what is|tell me}`` are
alternatives; an empty alternative may be left out. Any other difference between request and pattern means that they
do not match. The comparison knows no language: letters, digits and signs have to be equal; only punctuation,
quotation marks and the capital of the first word may differ.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agent.memory.request_patterns import build_pattern
from domain.model import JsonObject

_NAMED_INPUT = re.compile(r"\{(\w+)\}")
_END_MARKS = ".?!。？！ "
_MASKS_BY_FORMAT = {"email": "<email>", "uri": "<url>", "date": "<number>", "date-time": "<number>", "uuid": "<code>"}


def mask_inputs(text: str, inputs: Mapping[str, JsonObject]) -> str:
    """Return a pattern with each input replaced by a mask for the kind of its values, such as ``<number>``."""
    parts = _NAMED_INPUT.split(text)
    return " ".join(
        "".join(_choose_mask(inputs.get(part, {})) if at % 2 else part for at, part in enumerate(parts)).split()
    )


def _choose_mask(schema: JsonObject) -> str:
    """Return the mask for values of a schema; it is the one that :func:`mask_request` gives to such values."""
    format_name = schema.get("format")
    if isinstance(format_name, str) and format_name in _MASKS_BY_FORMAT:
        return _MASKS_BY_FORMAT[format_name]
    return "<number>" if schema.get("type") in ("integer", "number") else "<name>"


def is_worded_like(text: str, request: str) -> bool:
    """Return whether a request has all words of a pattern in order, and something in the place of each input.

    Case, spacing and final punctuation do not matter.
    """
    first, *others = _NAMED_INPUT.split(_normalize(text))[::2]
    plain_request = _normalize(request)
    if not others:
        return plain_request == first
    at = len(first)
    if not plain_request.startswith(first):
        return False
    for part in others[:-1]:
        place = plain_request.find(part, at + 1)
        if place < 0:
            return False
        at = place + len(part)
    return plain_request.endswith(others[-1]) and at < len(plain_request) - len(others[-1])


def _normalize(text: str) -> str:
    return " ".join(text.split()).rstrip(_END_MARKS).casefold()


def mask_request(text: str, request: str, inputs: Mapping[str, JsonObject]) -> str:
    """Return a request with its values masked, for comparison with a masked pattern.

    If the request has the words of the pattern, the result is the masked pattern; else values are recognized by their
    form.
    """
    return mask_inputs(text, inputs) if is_worded_like(text, request) else build_pattern(request)


MARKS = r".,;:!?¡¿。，、；：！？…\"“”„«»‘’'「」『』《》()（）\s"
"""Characters without meaning of their own: punctuation, quotation marks and spaces."""
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_TOKEN = re.compile(rf"[{MARKS}]+|\w+|[^\w{MARKS}]+")
QUOTATION = re.compile(r"\"([^\"]+)\"|“([^”]+)”|«([^»]+)»|„([^“”]+)[“”]|「([^」]+)」|『([^』]+)』|《([^》]+)》")
_MAX_COMPARED_LENGTH = 600
"""Maximum characters of a request or pattern that are compared."""
_MAX_INPUTS = 6
"""Limit of inputs in a pattern."""
_MAX_VALUE_LENGTH = 80
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
    if len(request) > _MAX_COMPARED_LENGTH or parts is None:
        return None
    spans = _match_parts(request, parts) or _match_parts(_swap_initial_case(request), parts)
    if spans is None:
        return None
    quotes = [(hit.span(), hit.span(hit.lastindex or 0)) for hit in QUOTATION.finditer(request)]
    values_found = {name: _read_value(request, span, quotes) for name, span in spans.items() if name}
    values = {name: value for name, value in values_found.items() if value is not None}
    return values if len(values) == len(values_found) else None


def list_inputs(pattern: str) -> list[str]:
    """Return the inputs that a pattern names, in order, repetitions included."""
    return [name for name in _PLACEHOLDER.findall(pattern) if name.isidentifier()]


def count_fixed_words(pattern: str) -> int:
    """Return the number of words that a request must have besides its values to match a pattern."""
    alternative_words = sum(
        min(_count_words(option) for option in alternatives.split("|"))
        for alternatives in _PLACEHOLDER.findall(pattern)
        if "|" in alternatives
    )
    return alternative_words + _count_words(_PLACEHOLDER.sub(" ", pattern))


def get_literal_text(pattern: str) -> str:
    """Return the text of a pattern without its inputs, all alternatives included."""
    return " ".join(
        _PLACEHOLDER.sub(lambda hit: " " if hit[1].isidentifier() else f" {hit[1].replace('|', ' ')} ", pattern).split()
    )


def resolve_alternatives(pattern: str) -> str:
    """Return a pattern with the first of its alternatives, so that braces hold inputs only."""
    return _PLACEHOLDER.sub(lambda hit: hit[0] if hit[1].isidentifier() else hit[1].partition("|")[0], pattern)


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
    overlapping_quotes = [quote for quote in quotes if quote[0][0] < end and start < quote[0][1]]
    if not overlapping_quotes:
        preceding_text = request[:start].rstrip()
        return RequestValue(
            request[start:end],
            opens_sentence=not re.search(r"\w", preceding_text) or preceding_text[-1:] in ".!?。！？",
        )
    outer, inner = overlapping_quotes[0]
    rest = request[inner[0] : start] + request[end : inner[1]]
    inside = outer[0] <= start and end <= outer[1]
    if len(overlapping_quotes) > 1 or not inside or re.search(rf"[^{MARKS}]", rest):
        return None
    return RequestValue(request[inner[0] : inner[1]], quoted=True)


@dataclass(frozen=True, slots=True)
class _PatternPart:
    """Part of a pattern: an input, or text, possibly with alternatives."""

    name: str = ""
    """Name of the input; empty for texts."""
    options: tuple[re.Pattern[str], ...] = ()
    """Alternative texts, one of which the request must have here."""


_STRIPPED_MARKS = " .,;:!?¡¿。，、；：！？…"
_NO_MARK = re.compile(f"[^{MARKS}]")


@lru_cache(maxsize=4096)
def _parse_pattern(pattern: str) -> tuple[_PatternPart, ...] | None:
    """Return the parts of a pattern; None if it is too long or names an input twice."""
    names = list_inputs(pattern)
    if len(pattern) > _MAX_COMPARED_LENGTH or len(names) > _MAX_INPUTS or len(set(names)) < len(names):
        return None
    text = pattern.strip(_STRIPPED_MARKS)
    parts: list[_PatternPart] = []
    # Next to an alternative that may be empty, the space or mark that separates it may be missing, too (``loose``).
    at, loose, leading_marks = 0, False, f"[{MARKS}]*"
    for hit in _PLACEHOLDER.finditer(text):
        literal = "".join(_build_regex(text[at : hit.start()], loose=loose or _may_be_empty(hit[1])))
        parts.append(_PatternPart(options=(re.compile(leading_marks + literal),)))
        if hit[1].isidentifier():
            parts.append(_PatternPart(hit[1]))
        else:
            options = ("".join(_build_regex(option.strip(), loose=False)) for option in hit[1].split("|"))
            parts.append(_PatternPart(options=tuple(map(re.compile, dict.fromkeys(options)))))
        at, loose, leading_marks = hit.end(), _may_be_empty(hit[1]), ""
    rest = "".join(_build_regex(text[at:], loose=loose))
    return (*parts, _PatternPart(options=(re.compile(f"{leading_marks}{rest}[{MARKS}]*"),)))


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
        places_after = 0
        for ends in steps[-1].values():
            places_after |= ends
        # A value has at least one character, and neither begins nor ends with a mark.
        reached.append(_extend_places((reached[-1] & begins) << 1) & (begins << 1) if part.name else places_after)
    # Backward: only places from which the rest of the parts reaches the end of the request.
    ending_places = [reached[-1] & (1 << len(request))]
    for part, step, reached_before in zip(reversed(parts), reversed(steps), reversed(reached[:-1]), strict=True):
        if part.name:
            ending_places.append(_extend_places(ending_places[-1] >> 1, back=True) & reached_before & begins)
        else:
            ending_places.append(sum(1 << place for place, ends in step.items() if ends & ending_places[-1]))
    ending_places.reverse()
    if not ending_places[0] or any(
        part.name and (_has_several(ending_places[at]) or _has_several(ending_places[at + 1]))
        for at, part in enumerate(parts)
    ):
        return None
    places = [ending_place.bit_length() - 1 for ending_place in ending_places]
    return {part.name: (places[at], places[at + 1]) for at, part in enumerate(parts)}


def _match_ends(request: str, part: _PatternPart, place: int) -> int:
    """Return the positions at which a text that begins at ``place`` may end, as bits."""
    hits = (option.match(request, place) for option in part.options)
    return sum({1 << hit.end() for hit in hits if hit is not None})


def _extend_places(places: int, *, back: bool = False) -> int:
    """Return these positions and the ones after them (before, if ``back``) within the length of a value, as bits."""
    width = 1
    while width < _MAX_VALUE_LENGTH + 2:
        step = min(width, _MAX_VALUE_LENGTH + 2 - width)
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


def _may_be_empty(placeholder: str) -> bool:
    """Return whether one of the alternatives in braces is empty."""
    return "|" in placeholder and any(not option.strip() for option in placeholder.split("|"))


def _build_regex(text: str, *, loose: bool) -> Iterator[str]:
    """Yield regular expressions for words and signs.

    With ``loose``, marks and spaces may be missing, because the text that they separate may be missing.
    """
    for part in _TOKEN.findall(text):
        marks = re.fullmatch(rf"[{MARKS}]+", part)
        yield (f"[{MARKS}]{'*' if loose else '+'}" if marks else re.escape(part))
