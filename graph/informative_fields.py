"""Selects the fields of a walk's last response that tell the user something new.

Left out are ids and paging, what the user gave in the request, and what earlier responses of the walk already
contained.
"""

import re
from collections.abc import Collection, Iterable, Sequence

from domain.tool import Parameter, ToolDoc
from graph.entities import ServiceEntities
from graph.entity_vocabulary import IDENTITY, get_parent_path, strip_role_words
from graph.feed_graph import FeedGraph
from graph.identifiers import split_words
from graph.links import FeedLink
from graph.response_fields import OutputField
from graph.walks import FeedWalk

_HIDDEN = frozenset(
    {
        "id", "hash", "token", "slug", "key", "cursor", "etag", "signature", "checksum", "nonce", "guid", "sha", "md5", "secret", "session",
        "handle", "self", "typename", "password",
    }
)  # fmt: skip
"""Last words of the names of ids and technical fields."""
_PAGING = frozenset(
    {
        "page", "pages", "total", "count", "limit", "offset", "size", "per", "skip", "next", "previous", "prev", "first", "last", "current",
        "has", "more", "result", "results", "item", "items", "start", "end", "index", "number", "of", "hits", "hit", "returned", "found",
        "max", "maximum", "record", "row", "entry", "cursor", "url",
    }
)  # fmt: skip
"""Words of fields about paging. A field whose name has no other word is about paging if the response has a list."""
_PAGED = frozenset(
    {
        "page",
        "total",
        "count",
        "limit",
        "offset",
        "next",
        "previous",
        "prev",
        "more",
        "size",
        "hit",
        "cursor",
        "returned",
    }
)
"""Words that mark a field as paging even inside a list."""
_ENVELOPE = frozenset(
    {
        "status", "success", "successful", "error", "errors", "message", "code", "ok", "version", "timestamp", "request", "took", "copyright",
        "result", "statuscode", "response", "api", "elapsed", "duration", "warning", "warnings", "license", "documentation", "auth", "credit",
        "remaining", "method", "http", "text", "processing", "execution", "generated", "time", "ms", "server", "get",
    }
)  # fmt: skip
"""Words of fields that report how the call went: status, message, duration."""
_WRAPPERS = frozenset(
    {
        "meta", "metadata", "pagination", "paging", "paginator", "pageinfo", "link", "url", "error", "errors", "header", "headers", "request",
        "parameter", "parameters", "query", "debug", "ratelimit", "warning", "warnings", "pageable", "cursor",
    }
)  # fmt: skip
"""Words of objects that describe the response rather than its subject."""

_COLLECTIVE = frozenset(
    {"list", "item", "data", "result", "response", "body", "payload", "record", "object", "content", "info", "detail"}
)
"""Words of lists and objects that do not say what they contain."""

_OUTCOME = frozenset({"status", "code", "error", "ret", "return", "message", "http", "cod", "msg"})
"""Words of which names like ``status_code`` and ``error_message`` consist."""

_STATUS = _ENVELOPE | _OUTCOME | {"sub", "data", "execution"}
"""Words of the fields inside an object ``status``."""

_PLACEHOLDER = re.compile(r"key\d+")
"""Name that catalogues write where a key is data."""
_LAST_LIST = re.compile(r"^(.*\[\])(?:\.|$)")

Key = frozenset[str]
"""Words of a field's name and of the objects around it, without collective words. Equal words mean equal fields."""


def select_informative_fields(
    walk: FeedWalk, inputs: Iterable[Parameter], ground: FeedGraph
) -> tuple[OutputField, ...]:
    """Return the fields of the walk's last response that are new to a user who gives ``inputs``, in order.

    Empty if the last tool has side effects, or its response has nothing but a status.
    """
    tail = walk.tail
    if walk.changes:
        return ()
    fields = [one for one in ground.fields[tail.id] if not _is_formal(one, ground.fields[tail.id])]
    fields = [one for one in fields if not _is_identifier(one, tail, ground.get_service(tail))]
    if len(ground.fields[tail.id]) > 1 and all(set(split_words(one.name)) <= _ENVELOPE for one in fields):
        return ()
    main = _find_main_objects(fields)
    fed = {feed.parameter for feed in walk.list_feeds_into(tail.id)}
    asked_inputs = [one for tool, one in walk.user_inputs if tool == tail.id] + [
        one for one in tail.parameters if one.name in fed
    ]
    if not any("[]" in feed.field for feed in walk.feeds):
        asked_inputs += inputs
    echoes = {strip_role_words(split_words(one.wire_name)) for one in asked_inputs}
    hits = _are_hits(walk, main, ground)
    if hits:
        echoes |= ground.collect_names_known_by_id(walk.list_feeds_into(tail.id))
    known_fields = _KnownFields(walk, main, ground, hits=hits)
    return tuple(
        one
        for one in fields
        if not (get_parent_path(one.path) in main and split_words(one.name) in echoes) and not known_fields.has(one)
    )


def is_redundant(walk: FeedWalk, inputs: Iterable[Parameter], ground: FeedGraph) -> bool:
    """Return whether the first tool is superfluous because it feeds the second only what the user gave to it."""
    if len(walk.tools) == 1:
        return False
    input_words = {split_words(one.wire_name) for one in inputs}
    out = [feed for feed in walk.list_feeds_into(walk.tools[1].id) if feed.source == walk.head.id]
    main = _find_main_objects(ground.fields[walk.head.id])
    return bool(out) and all(
        get_parent_path(one.field) in main and split_words(_get_last_name(one.field)) in input_words for one in out
    )


def _is_formal(field: OutputField, fields: Sequence[OutputField]) -> bool:
    """Return whether a field is about the response rather than its subject: paging, status or an error."""
    name_words, holder = set(split_words(field.name)), set(field.holder)
    about_answer = (
        bool(holder & _WRAPPERS) or holder == {"page", "info"} or (holder == {"status"} and name_words <= _STATUS)
    )
    if about_answer and "[]" not in get_parent_path(field.path):
        return True
    if "[]" in field.path or not name_words:
        return False
    if len(name_words) > 1 and name_words <= _OUTCOME:
        return True
    if (
        name_words <= _PAGING
        and (name_words & _PAGED or "[]" not in field.path)
        and any("[]" in one.path for one in fields)
    ):
        return True
    return (
        "." not in field.path and name_words <= _ENVELOPE and any("." in one.path or "[]" in one.path for one in fields)
    )


def _is_identifier(field: OutputField, tool: ToolDoc, service: ServiceEntities) -> bool:
    """Return whether a field identifies a thing instead of describing it."""
    name_words = split_words(field.name)
    if not name_words:
        return False
    if _PLACEHOLDER.fullmatch(field.name) or field.name.startswith("_"):
        return True
    if name_words[-1] in _HIDDEN or name_words in (("url",), ("slug",)):
        return True
    slot = service.resolve_field(tool, field)
    return slot is not None and slot.form in IDENTITY and slot.form != "url"


def _find_main_objects(fields: Iterable[OutputField]) -> frozenset[str]:
    """Return the paths of the outermost objects that have fields of their own: what the response is about."""
    holders = {get_parent_path(one.path) for one in fields if one.path}
    least = min((one.count(".") + (one != "") for one in holders), default=0)
    return frozenset(one for one in holders if one.count(".") + (one != "") == least)


def _are_hits(walk: FeedWalk, main: Collection[str], ground: FeedGraph) -> bool:
    """Return whether the last tool searched by values from earlier responses that its results repeat as fields."""
    asked_words = {split_words(feed.parameter) for feed in walk.list_feeds_into(walk.tail.id)}
    asked_words = {named for named in asked_words if named[-1] not in IDENTITY}
    fields = ground.fields[walk.tail.id]
    return bool(asked_words) and asked_words <= {
        split_words(one.name) for one in fields if get_parent_path(one.path) in main
    }


class _KnownFields:
    """Field names in a walk's earlier responses, of the thing that the last tool is called for and of others."""

    def __init__(self, walk: FeedWalk, main: Collection[str], ground: FeedGraph, *, hits: bool) -> None:
        into = walk.list_feeds_into(walk.tail.id)
        self._main, self._hits = main, hits
        self._thing = {split_words(one.name) for feed in into for one in ground.list_holder_fields(feed)}
        self._others = {key for feed in walk.feeds for key in _iterate_other_keys(feed, ground)}
        self._entity = _find_entity_words(into[0], ground) if into else frozenset[str]()

    def has(self, field: OutputField) -> bool:
        """Return whether a field of the last response repeats a field of an earlier one."""
        holder = get_parent_path(field.path)
        if not self._entity:
            return False
        if holder in self._main and (len(self._main) == 1 or not holder or "[]" in holder):
            of_thing = self._hits or "[]" not in holder
            return of_thing and split_words(field.name) in self._thing
        outer = next((one for one in self._main if holder != one and _is_inside(field.path, one)), "")
        if "[]" in outer and not self._hits:
            return False
        key = _remove_collective_words(split_words(field.path[len(outer) :]))
        return key in self._others or key in {
            _remove_collective_words(self._entity.union(named)) for named in self._thing
        }


def _iterate_other_keys(feed: FeedLink, ground: FeedGraph) -> Iterable[Key]:
    """Yield the keys of the fields of the feeding object, of objects within it, and of the list item around it."""
    holder, item = get_parent_path(feed.field), _find_item_path(feed.field)
    entity = _find_entity_words(feed, ground)
    for field in ground.fields[feed.source]:
        own = get_parent_path(field.path)
        if own == holder:
            yield _remove_collective_words(entity.union(split_words(field.name)))
        if _is_inside(field.path, holder):
            yield _remove_collective_words(split_words(field.path[len(holder) :]))
        if own != holder and _is_inside(field.path, item) and "[]" not in field.path[len(item) :]:
            yield _remove_collective_words(split_words(field.path[len(item) :]))


def _find_entity_words(feed: FeedLink, ground: FeedGraph) -> frozenset[str]:
    """Return the words of the entity that a feed's input takes, or else of the object that holds the field."""
    target = ground.tools[feed.target]
    parameter = next(one for one in target.parameters if one.name == feed.parameter)
    slot = ground.get_service(target).resolve_input(target, parameter)
    if slot is not None:
        return frozenset(word for entity in slot.entities for word in entity.split())
    return frozenset(split_words(get_parent_path(feed.field).rpartition(".")[2]))


def _remove_collective_words(name_words: Iterable[str]) -> Key:
    """Return the words as a key, without those that say nothing about the content."""
    return frozenset(name_words) - _COLLECTIVE


def _find_item_path(path: str) -> str:
    match = _LAST_LIST.match(path)
    return match[1] if match else ""


def _is_inside(path: str, holder: str) -> bool:
    return not holder or path.startswith((f"{holder}.", f"{holder}["))


def _get_last_name(path: str) -> str:
    return path.replace("[]", "").rpartition(".")[2]
