"""Selects the informative fields of a walk's last response: no ids or paging, nothing given or found on the way."""

import re
from collections.abc import Collection, Iterable, Sequence

from domain.tool import Parameter, ToolDoc
from graph.entities import Service
from graph.ground import Ground
from graph.identifiers import words
from graph.links import Feed
from graph.looks import holder_of
from graph.response_fields import OutputField
from graph.vocabulary import IDENTITY, thing
from graph.walks import Walk

_HIDDEN = frozenset(
    {
        "id", "hash", "token", "slug", "key", "cursor", "etag", "signature", "checksum", "nonce", "guid", "sha", "md5", "secret", "session",
        "handle", "self", "typename", "password",
    }
)  # fmt: skip
"""Last words of field names that identify things or are technical."""
_PAGING = frozenset(
    {
        "page", "pages", "total", "count", "limit", "offset", "size", "per", "skip", "next", "previous", "prev", "first", "last", "current",
        "has", "more", "result", "results", "item", "items", "start", "end", "index", "number", "of", "hits", "hit", "returned", "found",
        "max", "maximum", "record", "row", "entry", "cursor", "url",
    }
)  # fmt: skip
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
_ENVELOPE = frozenset(
    {
        "status", "success", "successful", "error", "errors", "message", "code", "ok", "version", "timestamp", "request", "took", "copyright",
        "result", "statuscode", "response", "api", "elapsed", "duration", "warning", "warnings", "license", "documentation", "auth", "credit",
        "remaining", "method", "http", "text", "processing", "execution", "generated", "time", "ms", "server", "get",
    }
)  # fmt: skip
_WRAPPERS = frozenset(
    {
        "meta", "metadata", "pagination", "paging", "paginator", "pageinfo", "link", "url", "error", "errors", "header", "headers", "request",
        "parameter", "parameters", "query", "debug", "ratelimit", "warning", "warnings", "pageable", "cursor",
    }
)  # fmt: skip
"""Words of objects that describe the response rather than what was asked for."""

_COLLECTIVE = frozenset(
    {"list", "item", "data", "result", "response", "body", "payload", "record", "object", "content", "info", "detail"}
)
"""Words of lists and objects that do not say what they contain."""

_OUTCOME = frozenset({"status", "code", "error", "ret", "return", "message", "http", "cod", "msg"})

_STATUS = _ENVELOPE | _OUTCOME | {"sub", "data", "execution"}

_PLACEHOLDER = re.compile(r"key\d+")
"""Catalogues write such names where a key is data."""
_LAST_LIST = re.compile(r"^(.*\[\])(?:\.|$)")

Key = frozenset[str]


def telling(walk: Walk, given: Iterable[Parameter], ground: Ground) -> tuple[OutputField, ...]:
    """Return the fields of the walk's last response that are new to a user who gives these inputs, in order."""
    tail = walk.tail
    if walk.changes:
        return ()
    fields = [one for one in ground.fields[tail.id] if not _is_formal(one, ground.fields[tail.id])]
    fields = [one for one in fields if not _identifies(one, tail, ground.service(tail))]
    if len(ground.fields[tail.id]) > 1 and all(set(words(one.name)) <= _ENVELOPE for one in fields):
        return ()
    main = _main(fields)
    fed = {feed.parameter for feed in walk.into(tail.id)}
    asked = [one for tool, one in walk.asked if tool == tail.id] + [one for one in tail.parameters if one.name in fed]
    if not any("[]" in feed.field for feed in walk.feeds):
        asked += given
    echoes = {thing(words(one.wire_name)) for one in asked}
    hits = _are_hits(walk, main, ground)
    if hits:
        echoes |= ground.known_by_id(walk.into(tail.id))
    known = _Known(walk, main, ground, hits=hits)
    return tuple(
        one for one in fields if not (holder_of(one.path) in main and words(one.name) in echoes) and not known.has(one)
    )


def repeats(walk: Walk, given: Iterable[Parameter], ground: Ground) -> bool:
    """Return whether the second tool is fed only with inputs of the first, so that it could have been called alone."""
    if len(walk.tools) == 1:
        return False
    said = {words(one.wire_name) for one in given}
    out = [feed for feed in walk.into(walk.tools[1].id) if feed.source == walk.head.id]
    main = _main(ground.fields[walk.head.id])
    return bool(out) and all(holder_of(one.field) in main and words(_name(one.field)) in said for one in out)


def _is_formal(field: OutputField, fields: Sequence[OutputField]) -> bool:
    """Return whether a field is about the response rather than its subject: paging, status, errors."""
    named, holder = set(words(field.name)), set(field.holder)
    about_answer = bool(holder & _WRAPPERS) or holder == {"page", "info"} or (holder == {"status"} and named <= _STATUS)
    if about_answer and "[]" not in holder_of(field.path):
        return True
    if "[]" in field.path or not named:
        return False
    if len(named) > 1 and named <= _OUTCOME:
        return True
    if named <= _PAGING and (named & _PAGED or "[]" not in field.path) and any("[]" in one.path for one in fields):
        return True
    return "." not in field.path and named <= _ENVELOPE and any("." in one.path or "[]" in one.path for one in fields)


def _identifies(field: OutputField, tool: ToolDoc, service: Service) -> bool:
    """Return whether a field identifies a thing instead of describing it."""
    named = words(field.name)
    if not named:
        return False
    if _PLACEHOLDER.fullmatch(field.name) or field.name.startswith("_"):
        return True
    if named[-1] in _HIDDEN or named in (("url",), ("slug",)):
        return True
    slot = service.given(tool, field)
    return slot is not None and slot.form in IDENTITY and slot.form != "url"


def _main(fields: Iterable[OutputField]) -> frozenset[str]:
    """Return the paths of the objects that a response is about: the outermost ones that have fields of their own."""
    holders = {holder_of(one.path) for one in fields if one.path}
    least = min((one.count(".") + (one != "") for one in holders), default=0)
    return frozenset(one for one in holders if one.count(".") + (one != "") == least)


def _are_hits(walk: Walk, main: Collection[str], ground: Ground) -> bool:
    """Return whether the last tool searched for the thing found before, so that its results repeat the search terms."""
    asked = {words(feed.parameter) for feed in walk.into(walk.tail.id)}
    asked = {named for named in asked if named[-1] not in IDENTITY}
    fields = ground.fields[walk.tail.id]
    return bool(asked) and asked <= {words(one.name) for one in fields if holder_of(one.path) in main}


class _Known:
    """Facts from earlier responses about the thing that the last tool is asked about, and about others on the way."""

    def __init__(self, walk: Walk, main: Collection[str], ground: Ground, *, hits: bool) -> None:
        into = walk.into(walk.tail.id)
        self._main, self._hits = main, hits
        self._thing = {words(one.name) for feed in into for one in ground.beside(feed)}
        self._others = {key for feed in walk.feeds for key in _of_others(feed, ground)}
        self._entity = _entity(into[0], ground) if into else frozenset[str]()

    def has(self, field: OutputField) -> bool:
        """Return whether a field of the last response repeats something known."""
        holder = holder_of(field.path)
        if not self._entity:
            return False
        if holder in self._main and (len(self._main) == 1 or not holder or "[]" in holder):
            of_thing = self._hits or "[]" not in holder
            return of_thing and words(field.name) in self._thing
        outer = next((one for one in self._main if holder != one and _is_inside(field.path, one)), "")
        if "[]" in outer and not self._hits:
            return False
        key = _plain(words(field.path[len(outer) :]))
        return key in self._others or key in {_plain(self._entity.union(named)) for named in self._thing}


def _of_others(feed: Feed, ground: Ground) -> Iterable[Key]:
    """Yield the keys of fields that belong to the feeding object, lie within it, or lie beside it in its list item."""
    holder, item = holder_of(feed.field), _item_of(feed.field)
    entity = _entity(feed, ground)
    for one in ground.fields[feed.source]:
        own = holder_of(one.path)
        if own == holder:
            yield _plain(entity.union(words(one.name)))
        if _is_inside(one.path, holder):
            yield _plain(words(one.path[len(holder) :]))
        if own != holder and _is_inside(one.path, item) and "[]" not in one.path[len(item) :]:
            yield _plain(words(one.path[len(item) :]))


def _entity(feed: Feed, ground: Ground) -> frozenset[str]:
    """Return the words of the entity whose field feeds an input."""
    target = ground.tools[feed.target]
    parameter = next(one for one in target.parameters if one.name == feed.parameter)
    slot = ground.service(target).taken(target, parameter)
    if slot is not None:
        return frozenset(word for entity in slot.entities for word in entity.split())
    return frozenset(words(holder_of(feed.field).rpartition(".")[2]))


def _plain(named: Iterable[str]) -> Key:
    """Return the words that say something about the content, as a key."""
    return frozenset(named) - _COLLECTIVE


def _item_of(path: str) -> str:
    found = _LAST_LIST.match(path)
    return found[1] if found else ""


def _is_inside(path: str, holder: str) -> bool:
    return not holder or path.startswith((f"{holder}.", f"{holder}["))


def _name(path: str) -> str:
    return path.replace("[]", "").rpartition(".")[2]
