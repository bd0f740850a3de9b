"""Finds the entities that the inputs and response fields of a service's tools identify.

``movie_id`` and the ``id`` of each of the ``results`` of ``/search/movie`` both identify a movie. The names of a
service's entities come from its paths and inputs (``/artists/{id}``, ``artist_ids``). A field is matched against them
by the name of the object that holds it, the object's schema, the path and the description. If none of these helps, the
names of the object's fields decide: an item of ``cast`` with the fields of a person is a person.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from domain.tool import Parameter, ToolDoc, ToolId, parse_host
from graph.entity_vocabulary import (
    IDENTIFYING_WORDS,
    IDENTITY,
    EntityFieldNames,
    EntityVocabulary,
    Noun,
    ResponseObjects,
    get_object_words,
    get_parent_path,
    parse_route,
    strip_role_words,
)
from graph.identifiers import extract_words, split_words
from graph.lenient_json import read_value
from graph.response_fields import OutputField, output_fields

ServiceMembers = Iterable[tuple[ToolDoc, tuple[OutputField, ...]]]
"""Tools of one service, each with the fields of its response."""


@dataclass(frozen=True, slots=True)
class EntitySlot:
    """What a value identifies: one of several possible entities, by its id, name or another form."""

    entities: frozenset[str]
    """The possible entities, as nouns: ``movie``, ``line item``."""
    form: str
    """Standard word of the form: ``id``, ``url``, ``name`` and so on."""
    spelling: str = ""
    """The form as the name spells it: ``uid`` for ``id``."""
    explicit: bool = True
    """True if a name, a path or a schema tells the entity; False if only a description does."""


@dataclass(frozen=True, slots=True)
class IdentifiedEntities:
    """The entities of a tool."""

    takes: frozenset[str]
    """Entities that its inputs identify."""
    gives: frozenset[str]
    """Entities that its response fields identify."""


def find_entities(docs: Iterable[ToolDoc]) -> dict[ToolId, IdentifiedEntities]:
    """Return the entities of each tool.

    Pass as many tools of a service at once as possible, because they name one another's entities.
    """
    members: defaultdict[tuple[str, str], list[tuple[ToolDoc, tuple[OutputField, ...]]]] = defaultdict(list)
    for doc in docs:
        members[get_service_key(doc)].append((doc, output_fields(doc)))
    entities_by_tool: dict[ToolId, IdentifiedEntities] = {}
    for tools in members.values():
        service = ServiceEntities(tools)
        for doc, fields in tools:
            takes = (slot.entities for p in doc.parameters if (slot := service.resolve_input(doc, p)) is not None)
            gives = (slot.entities for f in fields if (slot := service.resolve_field(doc, f)) is not None)
            entities_by_tool[doc.id] = IdentifiedEntities(
                frozenset[str]().union(*takes), frozenset[str]().union(*gives)
            )
    return entities_by_tool


def get_service_key(doc: ToolDoc) -> tuple[str, str]:
    """Return the key of a tool's service: address and tool set, or category and tool set if it has no address."""
    return (parse_host(doc.url) or doc.category, doc.toolset)


def list_part_names(json_schema: str | None) -> Iterable[str]:
    """Return the names of the fields of an array's items, or of an object, in a JSON Schema as text."""
    node = read_value(json_schema) if json_schema else None
    node = node.get("items", node) if isinstance(node, dict) else None
    parts = node.get("properties") if isinstance(node, dict) else None
    return parts if isinstance(parts, dict) else ()


def _build_slot(entity: str, name_words: Noun, spelling: str) -> EntitySlot:
    """Build the slot of an entity that an administrator marked; its form is the name's last word, or ``id``."""
    return EntitySlot(
        frozenset({entity}), name_words[-1] if name_words and name_words[-1] in IDENTIFYING_WORDS else "id", spelling
    )


def _get_spelling(name: str) -> str:
    """Return the last word of a name as it is written, without a plural s."""
    pieces = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)
    return pieces[-1].lower().removesuffix("s") if pieces else ""


class ServiceEntities:
    """Resolves the inputs and response fields of one service's tools to the service's entities.

    ``complete`` says that these are all tools of the service. Only then does an object of an unknown name count as an
    entity of its own.
    """

    def __init__(self, members: ServiceMembers, *, complete: bool = True) -> None:
        self._complete = complete
        self._tools = {doc.id: (doc, fields) for doc, fields in members}
        self._objects: dict[ToolId, ResponseObjects] = {}
        self._entities_by_object: dict[tuple[ToolId, str, str], tuple[frozenset[str], bool]] = {}
        titles = {field.title for _, fields in self._tools.values() for field in fields if field.title}
        self._vocabulary = EntityVocabulary((doc for doc, _ in self._tools.values()), titles)
        self._looks = EntityFieldNames(self._list_named_objects() if complete else ())

    # -- entities of inputs

    def resolve_input(self, doc: ToolDoc, parameter: Parameter) -> EntitySlot | None:
        """Return what an input identifies, by an administrator's mark, its name, path or description; else None."""
        name_words = split_words(parameter.wire_name)
        if (mentioned := self._get_marked_entity(doc, parameter.name)) is not None:
            return _build_slot(mentioned, name_words, _get_spelling(parameter.wire_name))
        if not name_words:
            return None
        if name_words[-1] not in IDENTIFYING_WORDS:
            return self._resolve_listed(name_words, parameter)
        form, head, spelling = (
            name_words[-1],
            strip_role_words(name_words[:-1]) if name_words[:-1] else (),
            _get_spelling(parameter.wire_name),
        )
        if head:
            noun = self._vocabulary.find_entity(head)
            if (
                noun is None
                and form in IDENTITY
                and (mentioned := self._vocabulary.find_mentioned(parameter.description))
            ):
                return EntitySlot(mentioned, form, spelling, explicit=False)
            return EntitySlot(frozenset({noun or " ".join(head)}), form, spelling)
        if form not in IDENTITY:
            return None
        noun = self._find_before_placeholder(doc, parameter) or self._find_route_end(doc)
        if noun is not None:
            return EntitySlot(frozenset({noun}), form, spelling)
        mentioned = self._vocabulary.find_mentioned(parameter.description) or self._find_in_api_name(doc)
        return EntitySlot(mentioned, form, spelling, explicit=False) if mentioned else None

    def find_entity(self, name_words: Noun) -> str | None:
        """Return the entity of the service that these words end in."""
        return self._vocabulary.find_entity(name_words)

    def _get_marked_entity(self, doc: ToolDoc, place: str) -> str | None:
        """Return the entity that an administrator gave for a parameter or field."""
        entity_words = next((split_words(mark.entity) for mark in doc.entity_marks if mark.place == place), ())
        return (self._vocabulary.find_entity(entity_words) or " ".join(entity_words)) if entity_words else None

    def _find_in_api_name(self, doc: ToolDoc) -> frozenset[str]:
        """Return the entity that a tool's name ends in, as a set of at most one."""
        noun = self._vocabulary.find_entity(split_words(doc.api))
        return frozenset({noun}) if noun is not None else frozenset()

    def _resolve_listed(self, name_words: Noun, parameter: Parameter) -> EntitySlot | None:
        """Return the slot of an input named after an entity, like ``tracks``, or None if it takes no ids of it.

        The form is that of an identifying field in its schema, or else a form that its description mentions.
        """
        noun = self._vocabulary.find_entity(strip_role_words(name_words))
        if noun is None:
            return None
        parts = {split_words(key): _get_spelling(key) for key in list_part_names(parameter.json_schema)}
        spelling_by_form = parts or {(word,): "" for word in extract_words(parameter.description)}
        form = next((form for form in ("id", "url", "slug") if (form,) in spelling_by_form), None)
        return EntitySlot(frozenset({noun}), form, spelling_by_form[form,]) if form else None

    def _find_before_placeholder(self, doc: ToolDoc, parameter: Parameter) -> str | None:
        """Return the entity that stands before the parameter's placeholder in the path."""
        if parameter.location != "path":
            return None
        before: Noun = ()
        for step in parse_route(doc.resource):
            if step.is_placeholder and before and step.words == split_words(parameter.name):
                return self._vocabulary.find_entity(before) or " ".join(before)
            before = step.words
        return None

    def _find_route_end(self, doc: ToolDoc) -> str | None:
        """Return the entity that the end of the path names: ``PUT /me/albums``."""
        steps = parse_route(doc.resource)
        return self._vocabulary.find_entity(steps[-1].words) if steps and not steps[-1].is_placeholder else None

    # -- entities of fields

    def resolve_field(self, doc: ToolDoc, field: OutputField) -> EntitySlot | None:
        """Return what a response field identifies, or None. An administrator's mark decides, then the names."""
        name_words = split_words(field.name)
        if (marked_entity := self._get_marked_entity(doc, field.path)) is not None:
            return _build_slot(marked_entity, name_words, _get_spelling(field.name))
        if not name_words:
            return None
        if name_words[-1] not in IDENTIFYING_WORDS:
            return None
        if name_words[:-1]:
            head = strip_role_words(name_words[:-1])
            return EntitySlot(
                frozenset({self._vocabulary.find_entity(head) or " ".join(head)}),
                name_words[-1],
                _get_spelling(field.name),
            )
        object_entities, explicit = self._get_object_entities(doc, get_parent_path(field.path), name_words[-1])
        return (
            EntitySlot(object_entities, name_words[-1], _get_spelling(field.name), explicit)
            if object_entities
            else None
        )

    def is_echo(self, doc: ToolDoc, field: OutputField) -> bool:
        """Return whether a field outside lists only repeats a required input: the same form of the same entity."""
        if "[]" in field.path:
            return False
        slot = self.resolve_field(doc, field)
        for parameter in doc.required:
            input_slot = self.resolve_input(doc, parameter)
            if slot is None or input_slot is None:
                if slot is input_slot and split_words(parameter.wire_name) == split_words(field.name):
                    return True
            elif input_slot.form == slot.form and input_slot.entities & slot.entities:
                return True
        return False

    def _get_objects(self, doc: ToolDoc) -> ResponseObjects:
        """Return the objects of a tool's response, computed once."""
        if doc.id not in self._objects:
            self._objects[doc.id] = ResponseObjects(
                self._tools[doc.id][1] if doc.id in self._tools else output_fields(doc)
            )
        return self._objects[doc.id]

    def _get_object_entities(self, doc: ToolDoc, path: str, form: str) -> tuple[frozenset[str], bool]:
        """Return the entities that an object may be, and whether that is explicit; computed once.

        The second value is :attr:`EntitySlot.explicit`: False if only a description tells the entity.
        """
        key = (doc.id, path, form)
        if key not in self._entities_by_object:
            self._entities_by_object[key] = self._resolve_object(doc, path, form)
        return self._entities_by_object[key]

    def _resolve_object(self, doc: ToolDoc, path: str, form: str) -> tuple[frozenset[str], bool]:
        """Find the entities of an object by its title, name, route, field names or parent, in this order."""
        objects = self._get_objects(doc)
        titled = self._vocabulary.find_titled(objects.titles.get(path, ""))
        if titled:
            return titled, True
        name = get_object_words(path)
        noun = self._vocabulary.find_entity(name) if name else None
        framed = not name and objects.has(path, form) and self._is_frame(doc, objects)
        is_whole = not name or self._is_page(doc, objects, path, form)
        alternatives = self._vocabulary.find_choices(doc) if noun is None and is_whole else frozenset[str]()
        if len(alternatives) > 1:
            return alternatives, True
        if noun is None and not framed and is_whole:
            noun = self._find_route_end(doc)
        if noun is not None:
            return frozenset({noun}), True
        alike = self._looks.find_entity(objects.names.get(path, set()))
        if alike:
            return frozenset({alike}), True
        if not name:
            return self._resolve_response(doc, framed=framed)
        if self._is_page(doc, objects, path, form):
            return self._get_object_entities(doc, get_parent_path(path), form)
        return frozenset({" ".join(name)} if self._complete else ()), True

    def _is_page(self, doc: ToolDoc, objects: ResponseObjects, path: str, form: str) -> bool:
        """Return whether an object or list is the content of the object around it, like ``results`` of a search.

        It is if it is a list or the only child, the object around it has no id of its own, and the path does not name
        it.
        """
        above = get_parent_path(path)
        plain = path.endswith("[]") or len(objects.inside[above]) == 1
        return (
            plain
            and not objects.has(above, form)
            and all(step.words != get_object_words(path) for step in parse_route(doc.resource))
        )

    def _is_frame(self, doc: ToolDoc, objects: ResponseObjects) -> bool:
        """Return whether a response is only a frame around lists, as of ``GET /movie/{id}/reviews``.

        The ``id`` of such a frame is then that of the movie in the path, not of a review.
        """
        steps = parse_route(doc.resource)
        lists = any(inside.endswith("[]") for inside in objects.inside[""])
        return doc.method == "GET" and lists and bool(steps) and steps[-1].is_plural

    def _resolve_response(self, doc: ToolDoc, *, framed: bool) -> tuple[frozenset[str], bool]:
        """Return the entity of a response as a whole, by the path, the tool's name, or else its description.

        The second value is False if only the description tells it. ``framed``: the last segment of the path names the
        lists inside.
        """
        steps = parse_route(doc.resource)[: -1 if framed else None]
        for name_words in (*(step.words for step in reversed(steps) if not step.is_placeholder), split_words(doc.api)):
            noun = self._vocabulary.find_entity(name_words)
            if noun is not None:
                return frozenset({noun}), True
        return self._vocabulary.find_mentioned(doc.description), False

    def _list_named_objects(self) -> Iterator[tuple[str | None, set[Noun]]]:
        """Yield the entity, or None, and the field names of each object in the responses.

        The entity is the one that the object is named after, or the one in the path of ``GET /movie/{id}``.
        """
        for doc, _ in self._tools.values():
            objects = self._get_objects(doc)
            for path, names in objects.names.items():
                entity = self._find_named_entity(doc, objects, path)
                if path or entity is not None:
                    yield entity, names

    def _find_named_entity(self, doc: ToolDoc, objects: ResponseObjects, path: str) -> str | None:
        """Return the one entity that an object's name, title or path gives, or None."""
        name = get_object_words(path)
        if not path and doc.method == "GET" and (steps := parse_route(doc.resource)) and steps[-1].is_placeholder:
            name = next((step.words for step in reversed(steps) if not step.is_placeholder), ())
        noun = self._vocabulary.find_entity(name)
        candidates = self._vocabulary.find_titled(objects.titles.get(path, "")) | frozenset(
            {noun} if noun is not None else ()
        )
        return next(iter(candidates)) if len(candidates) == 1 else None
