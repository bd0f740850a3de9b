"""The nouns that a service uses for its entities, from its paths, inputs and schema names."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from domain.tool import ToolDoc
from graph.identifiers import singular, text_words, words

Noun = tuple[str, ...]

IDENTITY = frozenset({"id", "url", "slug"})
"""Names of fields that tell a thing from all others of its kind; alone they do not name the kind."""

FORMS = IDENTITY | {"code", "key", "name", "number", "symbol"}
"""Names of fields that identify a thing if its kind is named, too."""

_ROLES = frozenset(
    {"from", "to", "base", "source", "target", "origin", "destination", "quote", "departure", "arrival", "start", "end"}
)
"""Words that say which of two things is meant: a ``to_currency`` is a currency. Fields do not tell them apart."""


def thing(named: Noun) -> Noun:
    """Return the words of a name without role words, unless nothing else would be left."""
    return tuple(word for word in named if word not in _ROLES) or named


@dataclass(frozen=True, slots=True)
class Step:
    """A segment of a URL path."""

    named: Noun
    many: bool
    """The segment is a plural."""
    input: bool
    """The segment is a placeholder."""


@lru_cache(maxsize=4096)
def route(url: str) -> tuple[Step, ...]:
    """Split the path of an address into segments."""
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
    """Yield the entities that a tool's inputs identify."""
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
    """The entities of a service, as its tools identify them."""

    def __init__(self, docs: Iterable[ToolDoc], titles: Iterable[str]) -> None:
        """Collect the entities from the documents; ``titles`` are the names of the service's schemas."""
        self._nouns = {noun for doc in docs for noun in _identified(doc)}
        self._decoration = self._words_around(titles)

    def noun(self, named: Noun) -> str | None:
        """Return the entity that a name ends in: a ``production_company`` is a company."""
        return next((" ".join(named[at:]) for at in range(len(named)) if named[at:] in self._nouns), None)

    def spoken_of(self, text: str) -> frozenset[str]:
        """Return the entities that a text mentions."""
        spoken = text_words(text) if text else frozenset[str]()
        return frozenset(" ".join(noun) for noun in self._nouns if spoken.issuperset(noun)) if spoken else frozenset()

    def titled(self, title: str) -> frozenset[str]:
        """Return the entities in a schema's name, as ``SimplifiedArtistObject``; of alternatives, all."""
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
        """Return the entities that an input chooses among: ``{media_type}``, either ``movie`` or ``tv``."""
        values = (words(value) for one in doc.required for value in one.enum if isinstance(value, str))
        return frozenset(" ".join(value) for value in values if value in self._nouns)

    def _words_around(self, titles: Iterable[str]) -> set[str]:
        """Return words that occur in schema names of several kinds, like ``Object`` and ``Simplified``, so name no kind."""
        kinds: defaultdict[str, set[str]] = defaultdict(set)
        entity_words = {word for noun in self._nouns for word in noun}
        for title in {one for several in titles for one in several.split("|")}:
            named = words(title)
            own = next((word for word in reversed(named) if word in entity_words), "")
            for word in named:
                if word not in entity_words:
                    kinds[word].add(own)
        return {word for word, own in kinds.items() if len(own) > 1}
