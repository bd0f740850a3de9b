"""What a request says beside what it asks: headings, reasons, and the wish for what comes by itself."""

import re
from collections.abc import Iterator

_START = r"(?:^|(?<=[.!?;\n]\s))"
_ASKING = r"is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|what|which|who|whose|when|where|why|how"
_HEADING = re.compile(
    rf"{_START}(?:i (?:need|have|want) )?(?:for|my|our|a|an|the|two|three|four|some|several|one|another|here|just|quick)\b(?-i:[a-z' -]{{0,40}}):\s+(?=\S)"
    rf"|{_START}(?!(?:{_ASKING})\b)[a-z][a-z'-]*(?-i: [a-z'-]+)? or(?-i: [a-z'-]+){{1,2}}\?\s+(?=\S)",
    re.IGNORECASE,
)
"""``Two questions: ...``, ``For my trip: ...``; ``Tea or coffee? ...``: of values nothing, of what is asked no more than a title tells."""
_REASON = re.compile(
    r"(?P<joint>(?:,|(?<!\s))\s*\b(?:and|but|or|then))?,\s*(?:since|because|as)\s+(?:i|we|my|our|he|she|they|it)(?:'\w+)?\s[^,;:.?!\n]*(?:,\s*|(?=[;.?!\n]|$))",
    re.IGNORECASE,
)
_MARKS = re.compile(
    r"^(?:(?:both|all|the|its|their|each|two|three|four|new|of|resulting|respective)\s+)+"
    r"(?:id|identifier|number|reference|confirmation(?: number| code)?|code|result|answer|figure|value)s?(?:\s+please)?$",
    re.IGNORECASE,
)


def without_headings(text: str) -> str:
    """A text without what stands before what is asked and tells nothing of it."""
    return _HEADING.sub("", text)


def without_reasons(text: str) -> str:
    """A text without the reasons between commas that somebody gives for asking: ``, since I translate for a living,``."""
    return _REASON.sub(lambda found: f"{found['joint'] or ''} " if found["joint"] else ", ", text)


def reasons_in(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of the reasons for asking: what they speak of is not what is looked for."""
    for found in _REASON.finditer(text):
        yield found.start(), found.end()


def is_wish_for_marks(part: str) -> bool:
    """Whether a part only wants told what answers tell anyway: ``both ids``, ``the confirmation numbers``."""
    return _MARKS.match(part) is not None
