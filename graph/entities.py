"""What the inputs and fields of a service's tools are of: ``movie_id`` and the ``id`` of each of the ``results`` of ``/search/movie`` are a movie's.

A service tells its entities itself: by what its paths and inputs identify (``/artists/{id}``, ``artist_ids``). Everything else is matched
against these: what holds a field, what its schema calls the holder, the path, words of a description, and, where no name tells, the names
of the fields beside it: what looks like a person everywhere else is one where it is called ``cast``.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import fsum
from urllib.parse import unquote, urlsplit

from domain.tool import Parameter, ToolDoc, ToolId
from graph.identifiers import singular, text_words, words
from graph.lenient_json import read_value
from graph.response_fields import OutputField, output_fields

Noun = tuple[str, ...]
Members = Iterable[tuple[ToolDoc, tuple[OutputField, ...]]]

IDENTITY = frozenset({"id", "url", "slug"})
"""Names of what tells one thing from all others of its kind; alone they do not say of which kind."""

FORMS = IDENTITY | {"code", "key", "name", "number", "symbol"}
"""Names of what a thing is told by, where its kind is named too."""

_ROLES = frozenset(
    {"from", "to", "base", "source", "target", "origin", "destination", "quote", "departure", "arrival", "start", "end"}
)
"""``to_currency`` is a currency: which of two it is, no field says."""

_ALIKE = 0.5
"""The least share of the telling names of two objects, by weight, that a likeness has in common."""

_TELLING = 1.0
"""The least weight of what they have in common: a name that no other entity has counts one, one of ``n`` a part."""

_STRANGE = 0.5
"""What a name counts against a likeness that no entity is known to have."""


@dataclass(frozen=True, slots=True)
class Slot:
    """What a value is: the ``form`` (``id``) of one of these entities, ``written`` so (``uid``). ``told``: by a name, a path or a schema,
    not by a description alone.
    """

    entities: frozenset[str]
    form: str
    written: str = ""
    told: bool = True


@dataclass(frozen=True, slots=True)
class Entities:
    """What a tool identifies in its inputs, and what in its response."""

    takes: frozenset[str]
    gives: frozenset[str]


def entities(docs: Iterable[ToolDoc]) -> dict[ToolId, Entities]:
    """The entities of tools. The more tools of a service are given at once, the better: they tell each other's."""
    members: defaultdict[tuple[str, str], list[tuple[ToolDoc, tuple[OutputField, ...]]]] = defaultdict(list)
    for doc in docs:
        members[service_of(doc)].append((doc, output_fields(doc)))
    found: dict[ToolId, Entities] = {}
    for tools in members.values():
        service = Service(tools)
        for doc, fields in tools:
            takes = (slot.entities for p in doc.parameters if (slot := service.taken(doc, p)) is not None)
            gives = (slot.entities for f in fields if (slot := service.given(doc, f)) is not None)
            found[doc.id] = Entities(frozenset[str]().union(*takes), frozenset[str]().union(*gives))
    return found


def service_of(doc: ToolDoc) -> tuple[str, str]:
    """Tools of one service: of one address and tool set, else of one category and tool set."""
    return (_host(doc.url) or doc.category, doc.toolset)


@lru_cache(maxsize=65_536)
def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.rpartition("@")[2].lower()
    except ValueError:
        return ""


def thing(named: Noun) -> Noun:
    """Words without those of a role, where others are left."""
    return tuple(word for word in named if word not in _ROLES) or named


@dataclass(frozen=True, slots=True)
class _Step:
    """A segment of a path. ``many``: it is plural. ``input``: it is a placeholder."""

    named: Noun
    many: bool
    input: bool


@lru_cache(maxsize=4096)
def _route(url: str) -> tuple[_Step, ...]:
    try:
        path = unquote(urlsplit(url).path)
    except ValueError:
        return ()
    steps = ((words(segment), segment) for segment in path.split("/"))
    return tuple(_Step(named, _plural(segment), segment.startswith("{")) for named, segment in steps if named)


def _plural(segment: str) -> bool:
    last = segment.replace("-", "_").rpartition("_")[2].lower()
    return singular(last) != last


def _identified(doc: ToolDoc) -> Iterable[Noun]:
    """The entities that a tool's inputs identify."""
    before: Noun = ()
    for step in _route(doc.url):
        if step.input and before and ((len(step.named) == 1 and step.named[0] in FORMS) or step.named == before):
            yield before
        elif step.input and len(step.named) > 1 and step.named[-1] in FORMS:
            yield thing(step.named[:-1])
        before = () if step.input else step.named
    for parameter in doc.parameters:
        named = words(parameter.wire_name)
        if len(named) > 1 and named[-1] == "id":
            yield thing(named[:-1])


class _Objects:
    """The objects of a response by path (``results[]``): the names of their fields, and what their schema calls them."""

    def __init__(self, fields: Iterable[OutputField]) -> None:
        self.names: dict[str, set[Noun]] = {}
        self.titles: dict[str, str] = {}
        self.inside: defaultdict[str, set[str]] = defaultdict(set)
        for field in fields:
            holder = _holder(field.path)
            self.names.setdefault(holder, set()).add(words(field.name))
            if field.title:
                self.titles.setdefault(holder, field.title)
            while holder and holder not in self.inside[_holder(holder)]:
                self.inside[_holder(holder)].add(holder)
                holder = _holder(holder)

    def has(self, path: str, form: str) -> bool:
        """Whether the object itself has a field of this name."""
        return (form,) in self.names.get(path, ())


def named_parts(json_schema: str | None) -> Iterable[str]:
    """The names of the fields of an array's items, or of an object, in a JSON Schema as text."""
    node = read_value(json_schema) if json_schema else None
    node = node.get("items", node) if isinstance(node, dict) else None
    parts = node.get("properties") if isinstance(node, dict) else None
    return parts if isinstance(parts, dict) else ()


def _written(name: str) -> str:
    """The last piece of a name as it is written, in the singular."""
    pieces = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)
    return pieces[-1].lower().removesuffix("s") if pieces else ""


def _holder(path: str) -> str:
    """The path of the object that holds a field or an object."""
    return path.rpartition(".")[0]


def _name(path: str) -> Noun:
    """The words that an object goes by in what holds it; none for a response as a whole."""
    return words(path.replace("[]", "").rpartition(".")[2])


class Service:
    """The tools of one service: the entities they identify, and what each of their inputs and fields is of.

    ``whole``: they are all tools of the service, so that a field of nothing they know is of something else; of a few that is not known.
    """

    def __init__(self, members: Members, *, whole: bool = True) -> None:
        self._whole = whole
        self._tools = {doc.id: (doc, fields) for doc, fields in members}
        self._nouns = {noun for doc, _ in self._tools.values() for noun in _identified(doc)}
        self._objects: dict[ToolId, _Objects] = {}
        self._decoration = self._words_around_titles()
        self._known: dict[tuple[ToolId, str, str], tuple[frozenset[str], bool]] = {}
        self._looks: dict[str, set[Noun]] = {}
        self._rarity: dict[Noun, float] = {}
        if whole:
            self._learn_looks()

    # -- what an input is of

    def taken(self, doc: ToolDoc, parameter: Parameter) -> Slot | None:
        """What an input is of; None where it identifies nothing."""
        named = words(parameter.wire_name)
        if not named:
            return None
        if named[-1] not in FORMS:
            return self._listed(named, parameter)
        form, head, written = named[-1], thing(named[:-1]) if named[:-1] else (), _written(parameter.wire_name)
        if head:
            noun = self._noun(head)
            if noun is None and form in IDENTITY and (said := self._said(parameter.description)):
                return Slot(said, form, written, told=False)
            return Slot(frozenset({" ".join(noun or head)}), form, written)
        if form not in IDENTITY:
            return None
        noun = self._before(doc, parameter) or self._of_route(doc)
        if noun is not None:
            return Slot(frozenset({" ".join(noun)}), form, written)
        said = self._said(parameter.description) or self._called(doc)
        return Slot(said, form, written, told=False) if said else None

    def _called(self, doc: ToolDoc) -> frozenset[str]:
        """What the name of a tool ends in."""
        noun = self._noun(words(doc.api))
        return frozenset({" ".join(noun)}) if noun is not None else frozenset()

    def _listed(self, named: Noun, parameter: Parameter) -> Slot | None:
        """``tracks``, a list of objects with a ``uri`` each, or of ids, as its description says."""
        noun = self._noun(thing(named))
        if noun is None:
            return None
        parts = {words(key): _written(key) for key in named_parts(parameter.json_schema)}
        spoken = parts or {(word,): "" for word in text_words(parameter.description)}
        form = next((form for form in ("id", "url", "slug") if (form,) in spoken), None)
        return Slot(frozenset({" ".join(noun)}), form, spoken[form,]) if form else None

    def _before(self, doc: ToolDoc, parameter: Parameter) -> Noun | None:
        """What stands before ``{id}`` in the path."""
        if parameter.location != "path":
            return None
        before: Noun = ()
        for step in _route(doc.url):
            if step.input and before and step.named == words(parameter.name):
                return self._noun(before) or before
            before = step.named
        return None

    def _of_route(self, doc: ToolDoc) -> Noun | None:
        """What the end of a path names: ``PUT /me/albums``."""
        steps = _route(doc.url)
        return self._noun(steps[-1].named) if steps and not steps[-1].input else None

    def _said(self, text: str) -> frozenset[str]:
        """The entities that a text speaks of."""
        if not text:
            return frozenset()
        spoken = text_words(text)
        return frozenset(" ".join(noun) for noun in self._nouns if spoken.issuperset(noun))

    def _noun(self, named: Noun) -> Noun | None:
        """The entity that words end in: ``production_company`` is a company."""
        return next((named[at:] for at in range(len(named)) if named[at:] in self._nouns), None)

    # -- what a field is of

    def given(self, doc: ToolDoc, field: OutputField) -> Slot | None:
        """What a field is of; None where it identifies nothing."""
        named = words(field.name)
        if not named:
            return None
        if named[-1] not in FORMS:
            return None
        if named[:-1]:
            head = thing(named[:-1])
            return Slot(frozenset({" ".join(self._noun(head) or head)}), named[-1], _written(field.name))
        found, told = self._object(doc, _holder(field.path), named[-1])
        return Slot(found, named[-1], _written(field.name), told) if found else None

    def echoes(self, doc: ToolDoc, field: OutputField) -> bool:
        """Whether a field only repeats what the tool was asked with: the same form of the same entity, outside a list."""
        if "[]" in field.path:
            return False
        slot = self.given(doc, field)
        for parameter in doc.required:
            asked = self.taken(doc, parameter)
            if slot is None or asked is None:
                if slot is asked and words(parameter.wire_name) == words(field.name):
                    return True
            elif asked.form == slot.form and asked.entities & slot.entities:
                return True
        return False

    def _fields(self, doc: ToolDoc) -> _Objects:
        if doc.id not in self._objects:
            self._objects[doc.id] = _Objects(self._tools[doc.id][1] if doc.id in self._tools else output_fields(doc))
        return self._objects[doc.id]

    def _object(self, doc: ToolDoc, path: str, form: str) -> tuple[frozenset[str], bool]:
        """The entities that an object may be, and whether that is told by more than a description."""
        key = (doc.id, path, form)
        if key not in self._known:
            self._known[key] = self._found(doc, path, form)
        return self._known[key]

    def _found(self, doc: ToolDoc, path: str, form: str) -> tuple[frozenset[str], bool]:
        objects = self._fields(doc)
        titled = self._titled(objects.titles.get(path, ""))
        if titled:
            return titled, True
        name = _name(path)
        noun = self._noun(name) if name else None
        framed = not name and objects.has(path, form) and self._is_frame(doc, objects)
        whole = not name or self._is_page(doc, objects, path, form)
        chosen = self._chosen(doc) if noun is None and whole else frozenset[str]()
        if len(chosen) > 1:
            return chosen, True
        if noun is None and not framed and whole:
            noun = self._of_route(doc)
        if noun is not None:
            return frozenset({" ".join(noun)}), True
        alike = self._alike(objects.names.get(path, set()))
        if alike:
            return frozenset({alike}), True
        if not name:
            return self._answered(doc, framed=framed)
        if self._is_page(doc, objects, path, form):
            return self._object(doc, _holder(path), form)
        return frozenset({" ".join(name)} if self._whole else ()), True

    def _is_page(self, doc: ToolDoc, objects: _Objects, path: str, form: str) -> bool:
        """Whether an object or a list is all that its holder is for, rather than a part of it: ``results`` of what has no id itself."""
        above = _holder(path)
        plain = path.endswith("[]") or len(objects.inside[above]) == 1
        return plain and not objects.has(above, form) and all(step.named != _name(path) for step in _route(doc.url))

    def _is_frame(self, doc: ToolDoc, objects: _Objects) -> bool:
        """Whether a response is there for the lists in it, which hang on what the path identifies: ``/movie/{id}/reviews``."""
        steps = _route(doc.url)
        lists = any(inside.endswith("[]") for inside in objects.inside[""])
        return doc.method == "GET" and lists and bool(steps) and steps[-1].many

    def _answered(self, doc: ToolDoc, *, framed: bool) -> tuple[frozenset[str], bool]:
        """What a response as a whole is of, by the path or the name of its tool, else by what its description speaks of."""
        steps = _route(doc.url)[: -1 if framed else None]
        for named in (*(step.named for step in reversed(steps) if not step.input), words(doc.api)):
            noun = self._noun(named)
            if noun is not None:
                return frozenset({" ".join(noun)}), True
        return self._said(doc.description), False

    def _chosen(self, doc: ToolDoc) -> frozenset[str]:
        """The entities among which an input chooses: ``{media_type}``, one of ``movie`` and ``tv``."""
        values = (words(value) for one in doc.required for value in one.enum if isinstance(value, str))
        return frozenset(" ".join(value) for value in values if value in self._nouns)

    def _titled(self, title: str) -> frozenset[str]:
        """The entities that a schema's name tells: ``SimplifiedArtistObject``; of alternatives all."""
        found: set[str] = set()
        for one in title.split("|") if title else ():
            named = words(one)
            while named and named[-1] in self._decoration:
                named = named[:-1]
            noun = self._noun(named)
            if noun is not None:
                found.add(" ".join(noun))
        return frozenset(found)

    def _words_around_titles(self) -> set[str]:
        """The words that schemas of several kinds have in their names, like ``Object`` and ``Simplified``: they tell no kind."""
        kinds: defaultdict[str, set[str]] = defaultdict(set)
        given = {f.title for _, fields in self._tools.values() for f in fields if f.title}
        titles = {one for title in given for one in title.split("|")}
        entity_words = {word for noun in self._nouns for word in noun}
        for title in titles:
            named = words(title)
            own = next((word for word in reversed(named) if word in entity_words), "")
            for word in named:
                if word not in entity_words:
                    kinds[word].add(own)
        return {word for word, own in kinds.items() if len(own) > 1}

    # -- what objects look like

    def _learn_looks(self) -> None:
        """What the fields of each entity are called: first where a name or the path tells what an object is, then also of what looks like it."""
        looks: defaultdict[str, set[Noun]] = defaultdict(set)
        unnamed: list[set[Noun]] = []
        for doc, _ in self._tools.values():
            objects = self._fields(doc)
            for path, names in objects.names.items():
                entity = self._named_entity(doc, objects, path)
                if entity is not None:
                    looks[entity] |= names
                elif path and ("id",) in names:
                    unnamed.append(names)
        self._keep_looks(looks)
        for names in unnamed:
            entity = self._alike(names)
            if entity is not None:
                looks[entity] = looks[entity] | names
        self._keep_looks(looks)

    def _keep_looks(self, looks: Mapping[str, set[Noun]]) -> None:
        spread = Counter(name for names in looks.values() for name in names)
        self._looks = dict(looks)
        self._rarity = {name: 1 / count for name, count in spread.items()}

    def _named_entity(self, doc: ToolDoc, objects: _Objects, path: str) -> str | None:
        """The one entity that an object is called, or that ``GET /movie/{id}`` answers."""
        titled = self._titled(objects.titles.get(path, ""))
        name = _name(path)
        if not path and doc.method == "GET" and (steps := _route(doc.url)) and steps[-1].input:
            name = next((step.named for step in reversed(steps) if not step.input), ())
        noun = self._noun(name) if name else None
        found = titled | frozenset({" ".join(noun)} if noun is not None else ())
        return next(iter(found)) if len(found) == 1 else None

    def _alike(self, names: set[Noun]) -> str | None:
        """The entity that an object with these fields looks like; one whose id it holds beside its own it is not."""
        whole = fsum(self._rarity.get(name, _STRANGE) for name in names)
        best, likeness = None, 0.0
        for entity, look in self._looks.items():
            if (*entity.split(), "id") in names:
                continue
            common = fsum(self._rarity[name] for name in names & look)
            if common >= _TELLING and common / whole >= max(_ALIKE, likeness):
                best, likeness = (None if common / whole == likeness else entity), common / whole
        return best
