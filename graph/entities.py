"""Entities that the inputs and fields of a service's tools identify.

``movie_id`` and the ``id`` of each of the ``results`` of ``/search/movie`` both identify a movie. A service names its entities itself,
by what its paths and inputs identify (``/artists/{id}``, ``artist_ids``). Everything else is matched against these: what holds a field,
what its schema calls the holder, the path, words of a description, and, if no name tells, the names of the neighbouring fields: what
looks like a person everywhere else is one where it is called ``cast``.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from domain.tool import Parameter, ToolDoc, ToolId, host_of
from graph.identifiers import text_words, words
from graph.lenient_json import read_value
from graph.looks import Looks, Objects, holder_of, name_of
from graph.response_fields import OutputField, output_fields
from graph.vocabulary import FORMS, IDENTITY, Noun, Vocabulary, route, thing

Members = Iterable[tuple[ToolDoc, tuple[OutputField, ...]]]


@dataclass(frozen=True, slots=True)
class Slot:
    """The entities that a value may identify, and the form in which it does."""

    entities: frozenset[str]
    form: str
    """Word of the form: ``id``, ``url``, ``name`` and so on."""
    written: str = ""
    """The form as the name spells it: ``uid`` for ``id``."""
    told: bool = True
    """True if a name, a path or a schema says so; False if only a description does."""


@dataclass(frozen=True, slots=True)
class Entities:
    """The entities that a tool identifies in its inputs, and in its response."""

    takes: frozenset[str]
    gives: frozenset[str]


def entities(docs: Iterable[ToolDoc]) -> dict[ToolId, Entities]:
    """Return the entities of tools.

    The more tools of a service are given at once, the better, because they name one another's entities.
    """
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
    """Return the key of a tool's service: address and tool set, or category and tool set if it has no address."""
    return (host_of(doc.url) or doc.category, doc.toolset)


def named_parts(json_schema: str | None) -> Iterable[str]:
    """Return the names of the fields of an array's items, or of an object, in a JSON Schema as text."""
    node = read_value(json_schema) if json_schema else None
    node = node.get("items", node) if isinstance(node, dict) else None
    parts = node.get("properties") if isinstance(node, dict) else None
    return parts if isinstance(parts, dict) else ()


def _slot(entity: str, named: Noun, written: str) -> Slot:
    """Build the slot of an entity that people named, in the form that the name tells, else ``id``."""
    return Slot(frozenset({entity}), named[-1] if named and named[-1] in FORMS else "id", written)


def _written(name: str) -> str:
    """Return the last piece of a name as it is written, in the singular."""
    pieces = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)
    return pieces[-1].lower().removesuffix("s") if pieces else ""


class Service:
    """The tools of one service, their entities, and what each of their inputs and fields identifies.

    ``whole``: the tools are all tools of the service, so a field of no known entity belongs to another one; of a few tools that
    cannot be said.
    """

    def __init__(self, members: Members, *, whole: bool = True) -> None:
        self._whole = whole
        self._tools = {doc.id: (doc, fields) for doc, fields in members}
        self._objects: dict[ToolId, Objects] = {}
        self._known: dict[tuple[ToolId, str, str], tuple[frozenset[str], bool]] = {}
        titles = {field.title for _, fields in self._tools.values() for field in fields if field.title}
        self._words = Vocabulary((doc for doc, _ in self._tools.values()), titles)
        self._looks = Looks(self._named_objects() if whole else ())

    # -- entities of inputs

    def taken(self, doc: ToolDoc, parameter: Parameter) -> Slot | None:
        """Return what an input identifies; None if nothing."""
        named = words(parameter.wire_name)
        if (said := self._said(doc, parameter.name)) is not None:
            return _slot(said, named, _written(parameter.wire_name))
        if not named:
            return None
        if named[-1] not in FORMS:
            return self._listed(named, parameter)
        form, head, written = named[-1], thing(named[:-1]) if named[:-1] else (), _written(parameter.wire_name)
        if head:
            noun = self._words.noun(head)
            if noun is None and form in IDENTITY and (said := self._words.spoken_of(parameter.description)):
                return Slot(said, form, written, told=False)
            return Slot(frozenset({noun or " ".join(head)}), form, written)
        if form not in IDENTITY:
            return None
        noun = self._before(doc, parameter) or self._of_route(doc)
        if noun is not None:
            return Slot(frozenset({noun}), form, written)
        said = self._words.spoken_of(parameter.description) or self._called(doc)
        return Slot(said, form, written, told=False) if said else None

    def noun(self, named: Noun) -> str | None:
        """Return the entity of the service that these words end in."""
        return self._words.noun(named)

    def _said(self, doc: ToolDoc, place: str) -> str | None:
        """Return the entity that an administrator gave for a parameter or field."""
        said = next((words(mark.entity) for mark in doc.entity_marks if mark.place == place), ())
        return (self._words.noun(said) or " ".join(said)) if said else None

    def _called(self, doc: ToolDoc) -> frozenset[str]:
        """Return the entity that a tool's name ends in, as a set of at most one."""
        noun = self._words.noun(words(doc.api))
        return frozenset({noun}) if noun is not None else frozenset()

    def _listed(self, named: Noun, parameter: Parameter) -> Slot | None:
        """Return the slot of a list input like ``tracks``: objects with a ``uri`` each, or ids, as its description says."""
        noun = self._words.noun(thing(named))
        if noun is None:
            return None
        parts = {words(key): _written(key) for key in named_parts(parameter.json_schema)}
        spoken = parts or {(word,): "" for word in text_words(parameter.description)}
        form = next((form for form in ("id", "url", "slug") if (form,) in spoken), None)
        return Slot(frozenset({noun}), form, spoken[form,]) if form else None

    def _before(self, doc: ToolDoc, parameter: Parameter) -> str | None:
        """Return the entity that stands before the parameter's placeholder in the path."""
        if parameter.location != "path":
            return None
        before: Noun = ()
        for step in route(doc.resource):
            if step.input and before and step.named == words(parameter.name):
                return self._words.noun(before) or " ".join(before)
            before = step.named
        return None

    def _of_route(self, doc: ToolDoc) -> str | None:
        """Return the entity that the end of the path names: ``PUT /me/albums``."""
        steps = route(doc.resource)
        return self._words.noun(steps[-1].named) if steps and not steps[-1].input else None

    # -- entities of fields

    def given(self, doc: ToolDoc, field: OutputField) -> Slot | None:
        """Return what a field identifies; None if nothing."""
        named = words(field.name)
        if (said := self._said(doc, field.path)) is not None:
            return _slot(said, named, _written(field.name))
        if not named:
            return None
        if named[-1] not in FORMS:
            return None
        if named[:-1]:
            head = thing(named[:-1])
            return Slot(frozenset({self._words.noun(head) or " ".join(head)}), named[-1], _written(field.name))
        found, told = self._object(doc, holder_of(field.path), named[-1])
        return Slot(found, named[-1], _written(field.name), told) if found else None

    def echoes(self, doc: ToolDoc, field: OutputField) -> bool:
        """Return whether a field only repeats a required input: the same form of the same entity, outside a list."""
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

    def _fields(self, doc: ToolDoc) -> Objects:
        """Return the objects of a tool's response, computed once."""
        if doc.id not in self._objects:
            self._objects[doc.id] = Objects(self._tools[doc.id][1] if doc.id in self._tools else output_fields(doc))
        return self._objects[doc.id]

    def _object(self, doc: ToolDoc, path: str, form: str) -> tuple[frozenset[str], bool]:
        """Return the entities that an object may be, and whether more than a description says so; computed once."""
        key = (doc.id, path, form)
        if key not in self._known:
            self._known[key] = self._found(doc, path, form)
        return self._known[key]

    def _found(self, doc: ToolDoc, path: str, form: str) -> tuple[frozenset[str], bool]:
        """Find the entities of an object: by its schema's title, name, path, the looks of its fields, then its holder."""
        objects = self._fields(doc)
        titled = self._words.titled(objects.titles.get(path, ""))
        if titled:
            return titled, True
        name = name_of(path)
        noun = self._words.noun(name) if name else None
        framed = not name and objects.has(path, form) and self._is_frame(doc, objects)
        whole = not name or self._is_page(doc, objects, path, form)
        chosen = self._words.chosen(doc) if noun is None and whole else frozenset[str]()
        if len(chosen) > 1:
            return chosen, True
        if noun is None and not framed and whole:
            noun = self._of_route(doc)
        if noun is not None:
            return frozenset({noun}), True
        alike = self._looks.alike(objects.names.get(path, set()))
        if alike:
            return frozenset({alike}), True
        if not name:
            return self._answered(doc, framed=framed)
        if self._is_page(doc, objects, path, form):
            return self._object(doc, holder_of(path), form)
        return frozenset({" ".join(name)} if self._whole else ()), True

    def _is_page(self, doc: ToolDoc, objects: Objects, path: str, form: str) -> bool:
        """Return whether an object or list is all that its holder is for: ``results`` of something without an id."""
        above = holder_of(path)
        plain = path.endswith("[]") or len(objects.inside[above]) == 1
        return (
            plain and not objects.has(above, form) and all(step.named != name_of(path) for step in route(doc.resource))
        )

    def _is_frame(self, doc: ToolDoc, objects: Objects) -> bool:
        """Return whether a response only frames the lists in it: ``/movie/{id}/reviews``.

        Such lists depend on what the path identifies.
        """
        steps = route(doc.resource)
        lists = any(inside.endswith("[]") for inside in objects.inside[""])
        return doc.method == "GET" and lists and bool(steps) and steps[-1].many

    def _answered(self, doc: ToolDoc, *, framed: bool) -> tuple[frozenset[str], bool]:
        """Return the entity of a response as a whole: by the path or its tool's name, else by its description.

        The second value is False if only the description says so.
        """
        steps = route(doc.resource)[: -1 if framed else None]
        for named in (*(step.named for step in reversed(steps) if not step.input), words(doc.api)):
            noun = self._words.noun(named)
            if noun is not None:
                return frozenset({noun}), True
        return self._words.spoken_of(doc.description), False

    def _named_objects(self) -> Iterator[tuple[str | None, set[Noun]]]:
        """Yield the objects of all responses as entity and field names.

        The entity is the one that the object is named after, or that ``GET /movie/{id}`` answers; else None.
        """
        for doc, _ in self._tools.values():
            objects = self._fields(doc)
            for path, names in objects.names.items():
                entity = self._called_so(doc, objects, path)
                if path or entity is not None:
                    yield entity, names

    def _called_so(self, doc: ToolDoc, objects: Objects, path: str) -> str | None:
        """Return the one entity that an object's name, title or path gives, or None."""
        name = name_of(path)
        if not path and doc.method == "GET" and (steps := route(doc.resource)) and steps[-1].input:
            name = next((step.named for step in reversed(steps) if not step.input), ())
        noun = self._words.noun(name)
        found = self._words.titled(objects.titles.get(path, "")) | frozenset({noun} if noun is not None else ())
        return next(iter(found)) if len(found) == 1 else None
