"""Vocabulary of a service: its nouns for entities, and the field names that are typical of each entity."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import fsum
from urllib.parse import unquote, urlsplit

from domain.tool import ToolDoc
from graph.identifiers import extract_words, singularize, split_words
from graph.response_fields import OutputField

Noun = tuple[str, ...]
"""Words of a name in standard form (:func:`graph.identifiers.split_words`)."""

IDENTITY = frozenset({"id", "url", "slug"})
"""Names of fields that identify a thing. Alone they do not say of what kind it is."""

IDENTIFYING_WORDS = IDENTITY | {"code", "key", "name", "number", "symbol"}
"""Last words of names that identify a thing if the words before name its kind: ``country_code``."""

_ROLE_WORDS = frozenset(
    {"from", "to", "base", "source", "target", "origin", "destination", "quote", "departure", "arrival", "start", "end"}
)
"""Words that say which of two things is meant: a ``to_currency`` is a currency. Fields do not tell them apart."""


def strip_role_words(name_words: Noun) -> Noun:
    """Return the words of a name without role words, unless nothing else would be left."""
    return tuple(word for word in name_words if word not in _ROLE_WORDS) or name_words


@dataclass(frozen=True, slots=True)
class PathSegment:
    """A segment of a URL path."""

    words: Noun
    """Words of its name; of a placeholder, those of the parameter."""
    is_plural: bool
    is_placeholder: bool
    """True for ``{movie_id}``."""


@lru_cache(maxsize=4096)
def parse_route(url: str) -> tuple[PathSegment, ...]:
    """Split the path of a URL into its named segments; empty if the URL is malformed."""
    try:
        path = unquote(urlsplit(url).path)
    except ValueError:
        return ()
    steps = ((split_words(segment), segment) for segment in path.split("/"))
    return tuple(PathSegment(named, _is_plural(segment), segment.startswith("{")) for named, segment in steps if named)


def _is_plural(segment: str) -> bool:
    last = segment.replace("-", "_").rpartition("_")[2].lower()
    return singularize(last) != last


def _find_identified_entities(doc: ToolDoc) -> Iterable[Noun]:
    """Yield the entities that a tool's inputs identify."""
    previous: Noun = ()
    for step in parse_route(doc.resource):
        if (
            step.is_placeholder
            and previous
            and ((len(step.words) == 1 and step.words[0] in IDENTIFYING_WORDS) or step.words == previous)
        ):
            yield previous
        elif step.is_placeholder and len(step.words) > 1 and step.words[-1] in IDENTIFYING_WORDS:
            yield strip_role_words(step.words[:-1])
        previous = () if step.is_placeholder else step.words
    for parameter in doc.parameters:
        name_words = split_words(parameter.wire_name)
        if len(name_words) > 1 and name_words[-1] == "id":
            yield strip_role_words(name_words[:-1])


class EntityVocabulary:
    """The entities of a service, as its tools identify them."""

    def __init__(self, docs: Iterable[ToolDoc], titles: Iterable[str]) -> None:
        """Collect the entities from the documents; ``titles`` are the names of the service's schemas."""
        self._nouns = {noun for doc in docs for noun in _find_identified_entities(doc)}
        self._decoration = self._find_shared_title_words(titles)

    def find_entity(self, name_words: Noun) -> str | None:
        """Return the longest known entity that a name ends in (``production_company`` → company), or None."""
        return next(
            (" ".join(name_words[at:]) for at in range(len(name_words)) if name_words[at:] in self._nouns), None
        )

    def find_mentioned(self, text: str) -> frozenset[str]:
        """Return the entities that a text mentions."""
        mentioned = extract_words(text) if text else frozenset[str]()
        return (
            frozenset(" ".join(noun) for noun in self._nouns if mentioned.issuperset(noun))
            if mentioned
            else frozenset()
        )

    def find_titled(self, title: str) -> frozenset[str]:
        """Return the entities in a schema's name: artist for ``SimplifiedArtistObject``, two for ``Artist | Album``."""
        entities: set[str] = set()
        for part in title.split("|") if title else ():
            title_words = split_words(part)
            while title_words and title_words[-1] in self._decoration:
                title_words = title_words[:-1]
            noun = self.find_entity(title_words)
            if noun is not None:
                entities.add(noun)
        return frozenset(entities)

    def find_choices(self, doc: ToolDoc) -> frozenset[str]:
        """Return the entities among the allowed values of required inputs: ``movie`` and ``tv`` of a ``media_type``."""
        values = (split_words(value) for one in doc.required for value in one.enum if isinstance(value, str))
        return frozenset(" ".join(value) for value in values if value in self._nouns)

    def _find_shared_title_words(self, titles: Iterable[str]) -> set[str]:
        """Return the words that schema names of several entities share, like ``Object`` and ``Simplified``."""
        kinds: defaultdict[str, set[str]] = defaultdict(set)
        entity_words = {word for noun in self._nouns for word in noun}
        for title in {one for several in titles for one in several.split("|")}:
            title_words = split_words(title)
            own = next((word for word in reversed(title_words) if word in entity_words), "")
            for word in title_words:
                if word not in entity_words:
                    kinds[word].add(own)
        return {word for word, own in kinds.items() if len(own) > 1}


_MIN_SHARE = 0.5
"""Minimum share, by weight, of an object's distinctive field names that must be names of the entity."""

_MIN_COMMON_WEIGHT = 1.0
"""Minimum total weight of the matching names. A name that ``n`` entities have weighs ``1 / n``."""

_UNKNOWN_NAME_WEIGHT = 0.5
"""Weight of a name that no known entity has; it counts against a match."""


class ResponseObjects:
    """The objects of a response by path (``results[]``; the response as a whole is the empty path)."""

    def __init__(self, fields: Iterable[OutputField]) -> None:
        """Collect each object's field names, schema title and nested objects from the response's fields."""
        self.names: dict[str, set[Noun]] = {}
        self.titles: dict[str, str] = {}
        self.inside: defaultdict[str, set[str]] = defaultdict(set)
        for field in fields:
            holder = get_parent_path(field.path)
            self.names.setdefault(holder, set()).add(split_words(field.name))
            if field.title:
                self.titles.setdefault(holder, field.title)
            while holder and holder not in self.inside[get_parent_path(holder)]:
                self.inside[get_parent_path(holder)].add(holder)
                holder = get_parent_path(holder)

    def has(self, path: str, form: str) -> bool:
        """Return whether the object itself has a field of this name."""
        return (form,) in self.names.get(path, ())


def get_parent_path(path: str) -> str:
    """Return the path of the object that holds a field or an object: ``items[]`` for ``items[].id``."""
    return path.rpartition(".")[0]


def get_object_words(path: str) -> Noun:
    """Return the words of an object's own name; empty for the response as a whole."""
    return split_words(path.replace("[]", "").rpartition(".")[2])


class EntityFieldNames:
    """The field names of each entity of a service, by which objects without a clear name are recognised."""

    def __init__(self, objects: Iterable[tuple[str | None, set[Noun]]]) -> None:
        """Collect the field names of ``objects``, each given with its entity, or None if that is unknown.

        An unknown object with an id adds its names to the entity that it matches.
        """
        field_names: defaultdict[str, set[Noun]] = defaultdict(set)
        unnamed: list[set[Noun]] = []
        for entity, names in objects:
            if entity is not None:
                field_names[entity] |= names
            elif ("id",) in names:
                unnamed.append(names)
        self._index(field_names)
        for names in unnamed:
            entity = self.find_entity(names)
            if entity is not None:
                field_names[entity] = field_names[entity] | names
        self._index(field_names)

    def _index(self, field_names: Mapping[str, set[Noun]]) -> None:
        """Store the field names of each entity, and weigh each name by how few entities have it."""
        spread = Counter(name for names in field_names.values() for name in names)
        self._looks = dict(field_names)
        self._rarity = {name: 1 / count for name, count in spread.items()}

    def find_entity(self, names: set[Noun]) -> str | None:
        """Return the entity whose field names match best; None if none matches well enough, or two match equally well.

        An object with a field like ``movie_id`` refers to a movie, so it is not one itself. Names that any object may
        have, like ``id`` and ``name``, are not compared.
        """
        distinctive = {name for name in names if len(name) != 1 or name[0] not in IDENTIFYING_WORDS}
        total = fsum(self._rarity.get(name, _UNKNOWN_NAME_WEIGHT) for name in distinctive)
        best, likeness = None, 0.0
        for entity, entity_names in self._looks.items():
            if (*entity.split(), "id") in names:
                continue
            common = fsum(self._rarity[name] for name in distinctive & entity_names)
            if common >= _MIN_COMMON_WEIGHT and common / total >= max(_MIN_SHARE, likeness):
                best, likeness = (None if common / total == likeness else entity), common / total
        return best
