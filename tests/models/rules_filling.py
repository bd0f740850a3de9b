"""How the rule-based model fills in arguments: a field of an earlier response with the same words, else words of the request."""

import re
from collections.abc import Iterator, Sequence

from tests.models.prompt_reading import Leaf, Step, Wanted, blocks, parameters, stem, steps, telling

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_SPOKEN_DATE = re.compile(
    r"(\d{1,2}) (January|February|March|April|May|June|July|August|September|October|November|December) (\d{4})"
)
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_NUMBER = re.compile(r"(?<![\w.-])-?\d[\d,]*(?:\.\d+)?(?![\w-])")
_QUOTED = re.compile(r"[\"“'‘]([^\"”'’]{2,120})[\"”'’]")
_NAME = re.compile(r"(?<![.?!] )(?<!^)\b[A-Z][\w'’-]*(?:(?: of| the| on)* [A-Z][\w'’-]*)*")
_CODE = re.compile(r"\b(?:[A-Z]{3}|[A-Z]{2}-?\d{3,})\b")

Bound = dict[str, object]


def fill(prompt: str) -> dict[str, object]:
    """The bindings, and the required parameters for which nothing was found."""
    parts = blocks(prompt)
    request, earlier = parts.get("request", ""), [step for step in steps(parts.get("earlier steps", "")) if step.good]
    bound: list[Bound] = []
    missing: list[str] = []
    taken: set[str] = set()
    listed = parameters(parts.get("tool", ""))
    refused = parts.get("why your last answer was refused", "")
    refused = "" if refused.lstrip().startswith("The call") else refused  # asked again, it says the same
    free = not any(wanted.required for wanted in listed)
    for wanted in listed:
        needed = wanted.required or (free and not bound)
        found = (
            None
            if re.search(rf"\b{re.escape(wanted.name)}\b", refused)
            else _value(wanted, needed, request, earlier, taken)
        )
        if found:
            bound.append(found)
            if found["origin"] == "request":
                taken.add(str(found["reference"]))
        elif wanted.required:
            missing.append(wanted.name)
    return {"bindings": bound, "missing": missing}


def stated(wanted: Wanted, request: str, taken: set[str]) -> object:
    """An allowed value that the request says; None where it says none."""
    return _taken(_allowed(wanted, request, taken), taken)


def said_in(wanted: Wanted, request: str, taken: set[str]) -> object:
    """Words of the request in the form that the parameter asks for; None where there are none."""
    return _taken(_from_request(wanted, request, taken), taken)


def _taken(bound: Bound | None, taken: set[str]) -> object:
    if bound is None:
        return None
    taken.add(str(bound["reference"]))
    return bound["value"]


def _value(wanted: Wanted, needed: bool, request: str, earlier: Sequence[Step], taken: set[str]) -> Bound | None:
    """In turn: an allowed value that is said, a field of an earlier step, words of the request, the default."""
    said = _allowed(wanted, request, taken)
    if said or not needed:
        return said
    return _from_step(wanted, request, earlier) or _from_request(wanted, request, taken) or _default(wanted)


def _allowed(wanted: Wanted, request: str, taken: set[str]) -> Bound | None:
    for choice in wanted.choices:
        words = str(choice).replace("_", " ")
        found = re.search(rf"\b{re.escape(words)}(?:e?s)?\b", request, re.IGNORECASE)
        if found and isinstance(choice, str) and found[0] not in taken:
            return _bound(wanted, choice, "request", found[0])
    return None


def _from_step(wanted: Wanted, request: str, earlier: Sequence[Step]) -> Bound | None:
    """The field with the same words; of a list, the item whose texts the request names, else the first."""
    best: tuple[float, int, Leaf] | None = None
    for step in earlier:
        for leaf in step.leaves:
            score = _alike(wanted, leaf, step)
            if score and (best is None or (score + _named(leaf, step, request), step.number) > (best[0], best[1])):
                best = (score + _named(leaf, step, request), step.number, leaf)
    return _bound(wanted, best[2].value, "step", f"{best[1]}.{best[2].place}") if best else None


def _alike(wanted: Wanted, leaf: Leaf, step: Step) -> float:
    """3 for the same name, 2 where the holder or the tool says the rest of it, 0 where the type or the words do not fit."""
    number = isinstance(leaf.value, (int, float)) and not isinstance(leaf.value, bool)
    if wanted.type in ("number", "integer") and not number:
        return 0.0
    if wanted.type == "string" and isinstance(leaf.value, bool):
        return 0.0
    if leaf.name == wanted.name:
        return 3.0
    own, asked = _own_words(leaf.name), _own_words(wanted.name)
    if not asked & own:
        return 0.0
    return 2.0 if asked - own <= leaf.holders | telling(step.api) else 0.0


def _own_words(name: str) -> frozenset[str]:
    """A name's words, ``id`` among them."""
    return telling(name) | {name.lower()} if not name.lower().endswith("id") else telling(name) | {"id"}


def _named(leaf: Leaf, step: Step, request: str) -> float:
    """Whether a text beside this value stands in the request; the first of several counts a little more."""
    around = leaf.place.rpartition("]")[0]
    texts = (other.value for other in step.leaves if around and other.place.startswith(around))
    mentioned = any(isinstance(text, str) and len(text) > 2 and text.casefold() in request.casefold() for text in texts)
    return (0.8 if mentioned else 0.0) - 0.001 * leaf.place.count("[")


def _from_request(wanted: Wanted, request: str, taken: set[str]) -> Bound | None:
    for value, reference in _readings(wanted, request):
        if reference not in taken:
            return _bound(wanted, value, "request", reference)
    return None


def _readings(wanted: Wanted, request: str) -> Iterator[tuple[object, str]]:
    """Values in the form that the parameter asks for, the likeliest first."""
    hint = f"{wanted.name} {wanted.text}".lower()
    if wanted.type in ("number", "integer"):
        for found in _numbers(request):
            number = float(found.replace(",", ""))
            yield (int(number) if number.is_integer() else number), found
        return
    if "date" in hint or "day" in hint:
        for found in _DATE.finditer(request):
            yield found[0], found[0]
        for found in _SPOKEN_DATE.finditer(request):
            yield f"{found[3]}-{_MONTHS.index(found[2]) + 1:02}-{int(found[1]):02}", found[0]
        return
    if wanted.choices or wanted.type != "string":
        return
    if any(word in hint for word in ("code", "currency", "number", "reference", "symbol")):
        yield from ((found[0], found[0]) for found in _CODE.finditer(request))
    yield from ((found[1], found[1]) for found in _QUOTED.finditer(request))
    names = [found[0] for found in _NAME.finditer(request) if len(found[0]) > 1 and not found[0].startswith("I'")]
    yield from ((name, name) for name in sorted(names, key=lambda name: -_place_of(wanted, name, request)))


def _place_of(wanted: Wanted, name: str, request: str) -> float:
    """How well a name stands for a parameter: one behind "in" or "from" is a place."""
    before = request[: request.find(name)].split()
    place = bool(before) and before[-1].lower() in ("in", "from", "to", "at", "for")
    return float(place) if {stem("city"), "place"} & wanted.words else len(name) / 100 - place * 0.5


def _numbers(request: str) -> list[str]:
    return [found[0] for found in _NUMBER.finditer(_DATE.sub(lambda date: " " * len(date[0]), request))]


def _default(wanted: Wanted) -> Bound | None:
    return None if wanted.default is None else _bound(wanted, wanted.default, "default", "")


def _bound(wanted: Wanted, value: object, origin: str, reference: str) -> Bound:
    return {"parameter": wanted.name, "value": value, "origin": origin, "reference": reference}
