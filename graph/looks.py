"""What objects look like: where no name tells what an object of a response is, the names of its fields do, if another is known that has them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import fsum

from graph.identifiers import words
from graph.response_fields import OutputField
from graph.vocabulary import FORMS, Noun

_ALIKE = 0.5
"""The least share of the telling names of two objects, by weight, that a likeness has in common."""

_TELLING = 1.0
"""The least weight of what they have in common: a name that no other entity has counts one, one of ``n`` a part."""

_STRANGE = 0.5
"""What a name counts against a likeness that no entity is known to have."""


class Objects:
    """The objects of a response by path (``results[]``): the names of their fields, and what their schema calls them."""

    def __init__(self, fields: Iterable[OutputField]) -> None:
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
        """Whether the object itself has a field of this name."""
        return (form,) in self.names.get(path, ())


def holder_of(path: str) -> str:
    """The path of the object that holds a field or an object."""
    return path.rpartition(".")[0]


def name_of(path: str) -> Noun:
    """The words that an object goes by in what holds it; none for a response as a whole."""
    return words(path.replace("[]", "").rpartition(".")[2])


class Looks:
    """The names of the fields of each entity of a service."""

    def __init__(self, objects: Iterable[tuple[str | None, set[Noun]]]) -> None:
        """``objects``: the names of the fields of each, and what it is known to be. What looks like a known one is learnt from too."""
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
        spread = Counter(name for names in looks.values() for name in names)
        self._looks = dict(looks)
        self._rarity = {name: 1 / count for name, count in spread.items()}

    def alike(self, names: set[Noun]) -> str | None:
        """The entity that an object with these fields looks like; one whose id it holds beside its own it is not.

        What anything may be told by, like its ``id`` and its ``name``, tells no kind.
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
