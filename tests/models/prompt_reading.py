"""What a model reads off a prompt: its parts between the fences, the numbered lines in them, the words that say something."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

_BLOCK = re.compile(r"\[\[([a-z ]+) ([0-9a-f]{12})\]\]\n(.*?)\n?\[\[end \2\]\]", re.DOTALL)
_CANDIDATE = re.compile(r"(\d+)\. ([^/]*)/([^:]*?)( \((?:MAY CHANGE|CHANGES) SOMETHING\))?: (.*) \| (.*)")
_STEP = re.compile(r"^(\d+)\. ([^/\n]*)/([^:\n]*): (.*)$", re.MULTILINE)
_PATH = re.compile(r"^\d+\. [^/\n]*/([^:\n]*): (.*)$", re.MULTILINE)
_PARAMETER = re.compile(r"- (\S+) \(([a-z]+)(?:, [^;]*)?; (required|optional)(.*?)\)(?:: (.*))?")
_CHANGE = re.compile(
    r"\b(?:put|book|reserve|send|add|create|order|cancel|place|delete|remove|schedule)\b(?! a?mong)", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STOP = _words(
    "a an and any are as at be been being before but by can could did do does each every for from get gets getting give given go goes "
    "going got had has have he her here him his how i if im in into is it its just like look many may me much must my near need needs no "
    "not now of off on one or our out over own please put right see she should show so some still such tell than that the their them "
    "then there these they this those to two under up us want was way we were what when where which who whom whose why will with would "
    "write you your three also all about ago back let make made more most ones only other them today use used using very while id ids"
)
_SAME = {
    "latitude": "place", "longitude": "place", "coordinate": "place", "city": "place", "inhabitant": "population", "people": "population", "prefix": "dialling", "dial": "dialling", "worth": "convert", "money": "currency",
    "windy": "wind", "hot": "temperature", "warm": "temperature", "cold": "temperature", "humid": "weather", "humidity": "weather",
    "wind": "weather", "temperature": "weather", "rain": "weather", "swim": "forecast", "doctorate": "person", "colleague": "person",
    "writer": "author", "novel": "book", "altitude": "elevation", "hungry": "restaurant", "eat": "restaurant", "buy": "product",
    "spectator": "stadium", "ground": "stadium", "cook": "recipe", "calory": "nutrition", "running": "film", "movie": "film",
    "director": "film", "share": "stock", "executive": "company", "fly": "flight", "airport": "flight", "seat": "flight", "room": "hotel",
    "stay": "hotel", "phone": "contact", "mail": "email", "paper": "publication", "article": "article", "cited": "citation",
    "clock": "timezone", "dictionary": "word", "mean": "definition", "reporter": "journalist", "score": "match", "goal": "match",
    "guest": "review", "kilometre": "distance", "crow": "distance", "book": "book", "table": "reservation", "pm2": "air", "leave": "day",
}  # fmt: skip
"""Words that mean the same to whoever reads a catalogue."""


def stem(word: str) -> str:
    """A crude singular, and what it stands for."""
    lowered = word.lower()
    for ending, instead in (
        ("ies", "y"),
        ("sses", "ss"),
        ("ches", "ch"),
        ("ings", ""),
        ("ing", ""),
        ("ss", "ss"),
        ("s", ""),
    ):
        if lowered.endswith(ending) and len(lowered) - len(ending) >= 3:
            lowered = lowered[: len(lowered) - len(ending)] + instead
            break
    return _SAME.get(lowered, lowered)


def telling(text: str) -> frozenset[str]:
    """The words of a text that say what it is about, camel case and underscores taken apart."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return frozenset(stem(word) for word in _WORD.findall(spaced) if word.lower() not in _STOP and not word.isdigit())


def topics(request: str) -> frozenset[str]:
    """What a request is about: its words in small letters; names and numbers are values."""
    return frozenset(stem(w) for w in _WORD.findall(request) if w[0].islower() and w not in _STOP)


def asks_for_a_change(request: str) -> bool:
    """Whether something is to be done rather than found out."""
    return _CHANGE.search(request) is not None


def blocks(prompt: str) -> dict[str, str]:
    """The fenced parts of a prompt by name."""
    return {name: text for name, _, text in _BLOCK.findall(prompt)}


@dataclass(frozen=True)
class Option:
    """A candidate's line. ``facts``: what stands behind the bar, by its first word."""

    number: int
    api: str
    text: str
    facts: Mapping[str, str]
    changes: bool = False

    @property
    def words(self) -> frozenset[str]:
        return telling(f"{self.api} {self.text}")

    def names(self, fact: str) -> list[str]:
        """``needs``, ``missing`` or ``fed``: the names of parameters."""
        said = self.facts.get(fact, "")
        return [] if said in ("", "nothing") else [part.split()[0] for part in said.split(", ")]

    def figure(self, fact: str) -> float:
        """``weight``, ``availability`` (not told: one half) or ``relevance``."""
        return float(self.facts.get(fact, "0.5" if fact == "availability" else "0"))


def options(text: str) -> list[Option]:
    """The numbered candidates."""
    found: list[Option] = []
    for match in _CANDIDATE.finditer(text):
        facts = dict(part.split(" ", 1) for part in match[6].split("; ") if " " in part)
        found.append(Option(int(match[1]), match[3], match[5], facts, changes=match[4] is not None))
    return found


def path_tools(text: str) -> list[tuple[str, str]]:
    """The tools of the path so far: name and description."""
    return [(match[1].partition(" (")[0], match[2]) for match in _PATH.finditer(text)]


@dataclass(frozen=True)
class Leaf:
    """A value of a response, with its place (``results[0].id``)."""

    place: str
    value: str | int | float | bool

    @property
    def name(self) -> str:
        return re.sub(r"\[\d+\]", "", self.place).rpartition(".")[2]

    @property
    def holders(self) -> frozenset[str]:
        return telling(re.sub(r"\[\d+\]", " ", self.place).rpartition(".")[0].replace(".", " "))


@dataclass(frozen=True)
class Step:
    """An earlier step as it is shown."""

    number: int
    api: str
    text: str
    good: bool
    response: object
    leaves: list[Leaf] = field(default_factory=list[Leaf])


def steps(text: str) -> list[Step]:
    """The numbered steps with their responses, as far as these are JSON."""
    heads = list(_STEP.finditer(text))
    found: list[Step] = []
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=False):
        body = text[head.end() : end]
        outcome = re.search(r"^outcome: (\w+)", body, re.MULTILINE)
        response = body.partition("\nresponse: ")[2].strip()
        try:
            value: object = json.loads(response)
        except ValueError:
            value = response
        good = outcome is not None and outcome[1] == "ok"
        found.append(Step(int(head[1]), head[3], head[4], good, value, list(_leaves(value, ""))))
    return found


def _leaves(value: object, place: str) -> Iterator[Leaf]:
    match value:
        case dict():
            for key, inner in cast("dict[str, Any]", value).items():
                yield from _leaves(inner, f"{place}.{key}" if place else key)
        case list():
            for index, inner in enumerate(cast("list[Any]", value)):
                yield from _leaves(inner, f"{place}[{index}]")
        case str() | int() | float() | bool():
            yield Leaf(place, value)
        case _:
            return


@dataclass(frozen=True)
class Wanted:
    """A parameter's line."""

    name: str
    type: str
    required: bool
    choices: Sequence[Any]
    default: Any
    text: str

    @property
    def words(self) -> frozenset[str]:
        return telling(self.name) or frozenset({self.name.lower()})


def parameters(text: str) -> list[Wanted]:
    """The parameters of the tool to call."""
    return [
        Wanted(m[1], m[2], m[3] == "required", _json(m[4], "one of ", []), _json(m[4], "default ", None), m[5] or "")
        for m in _PARAMETER.finditer(text)
    ]


def _json(facts: str, label: str, otherwise: Any) -> Any:
    at = facts.find(label)
    if at < 0:
        return otherwise
    try:
        return json.JSONDecoder().raw_decode(facts, at + len(label))[0]
    except ValueError:
        return otherwise
