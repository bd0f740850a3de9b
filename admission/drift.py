"""Changes between two readings of a source, compared by meaning, regardless of order and spaces."""

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from admission.schema_drift import Difference, canonical, differences
from admission.signs import signs_of
from domain.source import ChangeKind, ToolChange
from domain.tool import Credential, Parameter, ToolDoc

MAX_TOLD = 400
_PARTS = 6
"""Differences of one kind that are listed for one tool."""


def compare(before: Sequence[ToolDoc], now: Sequence[ToolDoc]) -> tuple[ToolChange, ...]:
    """Return the changes by tool in the order of the documents: removed tools first, then new or changed ones."""
    was, is_ = ({tool.id: tool for tool in tools} for tools in (before, now))
    gone = [
        ToolChange(tool=tool.id, kind="removed", told=f"{tool.api} is no longer in the document", breaks=True)
        for tool in was.values()
        if tool.id not in is_
    ]
    return (*gone, *chain.from_iterable(_of_tool(was.get(tool.id), tool) for tool in is_.values()))


def _of_tool(old: ToolDoc | None, new: ToolDoc) -> Iterator[ToolChange]:
    """Yield the changes of one tool, one for each kind."""
    if old is None:
        yield ToolChange(tool=new.id, kind="added", told=f"{new.api} is new in the document", breaks=False)
        return
    kinds: tuple[tuple[ChangeKind, Iterator[Difference]], ...] = (
        ("method", _method(old, new)),
        ("host", _address(old, new)),
        ("auth", _auth(old, new)),
        ("schema", chain(_parameters(old, new), _body(old, new), _answer(old, new))),
        ("description", _texts(old, new)),
    )
    for kind, found in kinds:
        told = list(found)
        if told:
            yield ToolChange(tool=new.id, kind=kind, told=_joined(told), breaks=any(one.breaks for one in told))


def _joined(found: Sequence[Difference]) -> str:
    first = sorted(found, key=lambda one: not one.breaks)
    more = f"; and {len(first) - _PARTS} more" if len(first) > _PARTS else ""
    return "; ".join(one.told for one in first[:_PARTS])[:MAX_TOLD] + more


def _method(old: ToolDoc, new: ToolDoc) -> Iterator[Difference]:
    if old.method != new.method:
        yield Difference(f"it is called by {new.method} instead of {old.method}", breaks=True)
    if old.effect.reads != new.effect.reads:
        told = "only reads" if new.effect.reads else "changes something"
        yield Difference(f"by its document it now {told}", breaks=True)
    if old.idempotent != new.idempotent:
        told = "may now" if new.idempotent else "may no longer"
        yield Difference(f"by its document a call {told} be repeated", breaks=True)


def _address(old: ToolDoc, new: ToolDoc) -> Iterator[Difference]:
    if old.address != new.address:
        yield Difference(
            f"it is called at {new.address or 'no address'} instead of {old.address or 'none'}", breaks=True
        )
    was, is_ = (_path(tool.url) for tool in (old, new))
    if was != is_:
        yield Difference(f"its path is {is_} instead of {was}", breaks=True)


def _path(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def _auth(old: ToolDoc, new: ToolDoc) -> Iterator[Difference]:
    was, is_ = ({(one.place, one.name.lower()): one for one in tool.credentials} for tool in (old, new))
    for where in dict.fromkeys((*was, *is_)):
        before, now = was.get(where), is_.get(where)
        if now is None:
            yield Difference(f"it no longer sends {where[1]} in its {where[0]}", breaks=False)
        elif before is None:
            need = "needs" if now.required else "may have"
            yield Difference(f"it {need} the key {now.secret} in its {now.place} {now.name}", breaks=True)
        elif _sent(before) != _sent(now):
            yield Difference(
                f"what it sends in its {now.place} {now.name} is another key, or written otherwise", breaks=True
            )
        elif before.required != now.required:
            told = "must now be sent" if now.required else "need no longer be sent"
            yield Difference(f"the key {now.secret} {told}", breaks=now.required)


def _sent(one: Credential) -> tuple[str, str, bool]:
    """Return what makes two credentials send the same header or parameter."""
    return one.secret, one.prefix, one.basic


def _parameters(old: ToolDoc, new: ToolDoc) -> Iterator[Difference]:
    was, is_ = ({_place(one): one for one in tool.parameters} for tool in (old, new))
    for where in dict.fromkeys((*was, *is_)):
        before, now = was.get(where), is_.get(where)
        if now is None:
            yield Difference(f"the parameter {where[1]} ({where[0]}) is gone", breaks=True)
        elif before is None:
            must = " and must be given" if now.required else ""
            yield Difference(f"the parameter {now.name} ({now.location}) is new{must}", breaks=now.required)
        else:
            yield from _parameter(before, now)


def _place(one: Parameter) -> tuple[str, str]:
    return one.location, one.wire_name.lower() if one.location == "header" else one.wire_name


def _parameter(old: Parameter, new: Parameter) -> Iterator[Difference]:
    if old.required != new.required:
        told = "must now be given" if new.required else "need no longer be given"
        yield Difference(f"{new.name} {told}", breaks=new.required)
    if old.name != new.name:
        yield Difference(f"{old.name} is now called {new.name}", breaks=True)
    written = [_writing(one) for one in (old, new)]
    if written[0] != written[1]:
        yield Difference(f"{new.name} is written into the request in another way", breaks=True)
    if canonical(old.default) != canonical(new.default):
        yield Difference(
            f"{new.name} is {_short(new.default)} where nothing is given, instead of {_short(old.default)}",
            breaks=False,
        )
    yield from differences(_schema(old), _schema(new), "sent", new.name)


def _writing(one: Parameter) -> tuple[object, ...]:
    """Return the properties that decide how a value is written into the request."""
    return one.style, one.explode, one.whole_body, one.spread, one.content_type, one.allow_reserved


def _schema(one: Parameter) -> dict[str, Any]:
    """Return everything that is declared about a parameter's values as one JSON Schema."""
    said: dict[str, Any] = {
        "type": [one.type, "null"] if one.nullable else one.type,
        "enum": list(one.enum) or None,
        "format": one.format,
        "minimum": one.minimum,
        "maximum": one.maximum,
    }
    plain = {key: value for key, value in said.items() if value is not None}
    whole = _read(one.json_schema)
    return {**plain, **whole} if isinstance(whole, dict) else plain


def _body(old: ToolDoc, new: ToolDoc) -> Iterator[Difference]:
    if (old.body_type, old.body_media) != (new.body_type, new.body_media):
        told = new.body_media or new.body_type
        yield Difference(f"its body is sent as {told} instead of {old.body_media or old.body_type}", breaks=True)
    elif old.body_required != new.body_required:
        told = "is" if new.body_required else "is no longer"
        yield Difference(f"its body {told} sent where none of its fields is given", breaks=False)
    if old.idempotency_header != new.idempotency_header:
        yield Difference("the header that tells repeated calls apart is another", breaks=bool(old.idempotency_header))


def _answer(old: ToolDoc, new: ToolDoc) -> Iterator[Difference]:
    was, is_ = _read(old.response_schema), _read(new.response_schema)
    if was is None and is_ is not None:
        yield Difference("its document now says what it answers", breaks=False)
    elif was is not None and is_ is None:
        yield Difference("its document no longer says what it answers", breaks=False)
    else:
        yield from differences(was, is_, "answered", "its answer")


def _texts(old: ToolDoc, new: ToolDoc) -> Iterator[Difference]:
    """Compare the texts that a model reads. A text that newly addresses the model counts as breaking."""
    named = {f"the description of {one.name}": one.description for one in new.parameters}
    before = {f"the description of {one.name}": one.description for one in old.parameters}
    pairs = [
        ("its description", old.description, new.description),
        ("the description of its tool set", old.toolset_description, new.toolset_description),
        *((what, before.get(what, ""), text) for what, text in named.items()),
    ]
    for what, was, is_ in pairs:
        if " ".join(was.split()) != " ".join(is_.split()):
            signs = {sign.kind for sign in signs_of(is_)} - {sign.kind for sign in signs_of(was)}
            told = f", and holds {', '.join(sorted(signs))}" if signs else ""
            if signs or what not in named or what in before:  # a new parameter is reported as such
                yield Difference(f"{what} is another{told}", breaks=bool(signs))


def _read(text: str | None) -> Any:
    try:
        return None if text is None else json.loads(text)
    except ValueError:
        return {"text": text}


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"
