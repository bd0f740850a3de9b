"""The nouns by which a service names its entities: what its paths and inputs identify, and what its schemas are called after."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from domain.tool import ToolDoc
from graph.identifiers import singular, text_words, words

Noun = tuple[str, ...]

IDENTITY = frozenset({"id", "url", "slug"})
"""Names of what tells one thing from all others of its kind; alone they do not say of which kind."""

FORMS = IDENTITY | {"code", "key", "name", "number", "symbol"}
"""Names of what a thing is told by, where its kind is named too."""

_ROLES = frozenset(
    {"from", "to", "base", "source", "target", "origin", "destination", "quote", "departure", "arrival", "start", "end"}
)
"""``to_currency`` is a currency: which of two it is, no field says."""


def thing(named: Noun) -> Noun:
    """Words without those of a role, where others are left."""
    return tuple(word for word in named if word not in _ROLES) or named


@dataclass(frozen=True, slots=True)
class Step:
    """A segment of a path. ``many``: it is plural. ``input``: it is a placeholder."""

    named: Noun
    many: bool
    input: bool


@lru_cache(maxsize=4096)
def route(url: str) -> tuple[Step, ...]:
    """The path of an address, segment by segment."""
    try:
        path = unquote(urlsplit(url).path)
    except ValueError:
        return ()
    steps = ((words(segment), segment) for segment in path.split("/"))
    return tuple(Step(named, _plural(segment), segment.startswith("{")) for named, segment in steps if named)


def _plural(segment: str) -> bool:
    last = segment.replace("-", "_").rpartition("_")[2].lower()
    return singular(last) != last


def _identified(doc: ToolDoc) -> Iterable[Noun]:
    """The entities that a tool's inputs identify."""
    before: Noun = ()
    for step in route(doc.resource):
        if step.input and before and ((len(step.named) == 1 and step.named[0] in FORMS) or step.named == before):
            yield before
        elif step.input and len(step.named) > 1 and step.named[-1] in FORMS:
            yield thing(step.named[:-1])
        before = () if step.input else step.named
    for parameter in doc.parameters:
        named = words(parameter.wire_name)
        if len(named) > 1 and named[-1] == "id":
            yield thing(named[:-1])


class Vocabulary:
    """The entities of a service, as its tools identify them. ``titles``: what its schemas are called."""

    def __init__(self, docs: Iterable[ToolDoc], titles: Iterable[str]) -> None:
        self._nouns = {noun for doc in docs for noun in _identified(doc)}
        self._decoration = self._words_around(titles)

    def noun(self, named: Noun) -> str | None:
        """The entity that words end in: ``production_company`` is a company."""
        return next((" ".join(named[at:]) for at in range(len(named)) if named[at:] in self._nouns), None)

    def spoken_of(self, text: str) -> frozenset[str]:
        """The entities that a text speaks of."""
        spoken = text_words(text) if text else frozenset[str]()
        return frozenset(" ".join(noun) for noun in self._nouns if spoken.issuperset(noun)) if spoken else frozenset()

    def titled(self, title: str) -> frozenset[str]:
        """The entities that a schema's name tells: ``SimplifiedArtistObject``; of alternatives all."""
        found: set[str] = set()
        for one in title.split("|") if title else ():
            named = words(one)
            while named and named[-1] in self._decoration:
                named = named[:-1]
            noun = self.noun(named)
            if noun is not None:
                found.add(noun)
        return frozenset(found)

    def chosen(self, doc: ToolDoc) -> frozenset[str]:
        """The entities among which an input chooses: ``{media_type}``, one of ``movie`` and ``tv``."""
        values = (words(value) for one in doc.required for value in one.enum if isinstance(value, str))
        return frozenset(" ".join(value) for value in values if value in self._nouns)

    def _words_around(self, titles: Iterable[str]) -> set[str]:
        """The words that schemas of several kinds have in their names, like ``Object`` and ``Simplified``: they tell no kind."""
        kinds: defaultdict[str, set[str]] = defaultdict(set)
        entity_words = {word for noun in self._nouns for word in noun}
        for title in {one for several in titles for one in several.split("|")}:
            named = words(title)
            own = next((word for word in reversed(named) if word in entity_words), "")
            for word in named:
                if word not in entity_words:
                    kinds[word].add(own)
        return {word for word, own in kinds.items() if len(own) > 1}
