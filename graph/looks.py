"""Recognises unnamed objects in responses by their field names, compared with objects of known entities."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import fsum

from graph.identifiers import words
from graph.response_fields import OutputField
from graph.vocabulary import FORMS, Noun

_ALIKE = 0.5
"""The smallest share, by weight, of an object's distinctive names that must match an entity's."""

_TELLING = 1.0
"""The smallest total weight of the matching names; a name that ``n`` entities have weighs ``1 / n``."""

_STRANGE = 0.5
"""The weight, counted against a match, of a name that no entity is known to have."""


class Objects:
    """The objects of a response by path (``results[]``)."""

    def __init__(self, fields: Iterable[OutputField]) -> None:
        """Collect each object's field names, schema title and nested objects from the response's fields."""
        self.names: dict[str, set[Noun]] = {}
        self.titles: dict[str, str] = {}
        self.inside: defaultdict[str, set[str]] = defaultdict(set)
        for field in fields:
            holder = holder_of(field.path)
            self.names.setdefault(holder, set()).add(words(field.name))
            if field.title:
                self.titles.setdefault(holder, field.title)
            while holder and holder not in self.inside[holder_of(holder)]:
                self.inside[holder_of(holder)].add(holder)
                holder = holder_of(holder)

    def has(self, path: str, form: str) -> bool:
        """Return whether the object itself has a field of this name."""
        return (form,) in self.names.get(path, ())


def holder_of(path: str) -> str:
    """Return the path of the object that holds a field or an object."""
    return path.rpartition(".")[0]


def name_of(path: str) -> Noun:
    """Return the words of an object's own name; empty for the response as a whole."""
    return words(path.replace("[]", "").rpartition(".")[2])


class Looks:
    """The field names of each entity of a service."""

    def __init__(self, objects: Iterable[tuple[str | None, set[Noun]]]) -> None:
        """Learn from ``objects``: what each is known to be, if anything, and the names of its fields.

        Unnamed objects with an id that match a known entity are learnt from, too.
        """
        looks: defaultdict[str, set[Noun]] = defaultdict(set)
        unnamed: list[set[Noun]] = []
        for entity, names in objects:
            if entity is not None:
                looks[entity] |= names
            elif ("id",) in names:
                unnamed.append(names)
        self._keep(looks)
        for names in unnamed:
            entity = self.alike(names)
            if entity is not None:
                looks[entity] = looks[entity] | names
        self._keep(looks)

    def _keep(self, looks: Mapping[str, set[Noun]]) -> None:
        """Store the field names of each entity, and weigh each name by how few entities have it."""
        spread = Counter(name for names in looks.values() for name in names)
        self._looks = dict(looks)
        self._rarity = {name: 1 / count for name, count in spread.items()}

    def alike(self, names: set[Noun]) -> str | None:
        """Return the entity whose field names match best, or None if none matches well enough or two match equally.

        An object that holds the entity's id next to its own is not that entity. Names that any object may have, like ``id`` and ``name``, are
        not compared.
        """
        telling = {name for name in names if len(name) != 1 or name[0] not in FORMS}
        whole = fsum(self._rarity.get(name, _STRANGE) for name in telling)
        best, likeness = None, 0.0
        for entity, look in self._looks.items():
            if (*entity.split(), "id") in names:
                continue
            common = fsum(self._rarity[name] for name in telling & look)
            if common >= _TELLING and common / whole >= max(_ALIKE, likeness):
                best, likeness = (None if common / whole == likeness else entity), common / whole
        return best
