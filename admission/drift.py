"""Changes between two readings of a source, compared by meaning, regardless of order and spaces."""

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from admission.injection_signs import find_signs
from admission.schema_drift import SchemaDifference, find_differences, to_canonical_text
from domain.tool import Credential, Parameter, ToolDoc
from domain.tool_source import ChangeKind, ToolChange

MAX_MESSAGE = 400
_MAX_DIFFERENCES = 6
"""Differences of one kind that are listed for one tool."""


def compare_readings(before: Sequence[ToolDoc], now: Sequence[ToolDoc]) -> tuple[ToolChange, ...]:
    """Return the changes by tool in the order of the documents: removed tools first, then new or changed ones."""
    old_tools, new_tools = ({tool.id: tool for tool in tools} for tools in (before, now))
    removed = [
        ToolChange(tool=tool.id, kind="removed", told=f"{tool.api} is no longer in the document", breaks=True)
        for tool in old_tools.values()
        if tool.id not in new_tools
    ]
    return (*removed, *chain.from_iterable(_compare_tool(old_tools.get(tool.id), tool) for tool in new_tools.values()))


def _compare_tool(old: ToolDoc | None, new: ToolDoc) -> Iterator[ToolChange]:
    """Yield the changes of one tool, one for each kind."""
    if old is None:
        yield ToolChange(tool=new.id, kind="added", told=f"{new.api} is new in the document", breaks=False)
        return
    kinds: tuple[tuple[ChangeKind, Iterator[SchemaDifference]], ...] = (
        ("method", _compare_method(old, new)),
        ("host", _compare_address(old, new)),
        ("auth", _compare_auth(old, new)),
        ("schema", chain(_compare_parameters(old, new), _compare_body(old, new), _compare_answer(old, new))),
        ("description", _compare_texts(old, new)),
    )
    for kind, candidates in kinds:
        differing = list(candidates)
        if differing:
            yield ToolChange(
                tool=new.id,
                kind=kind,
                told=_join_messages(differing),
                breaks=any(difference.breaks for difference in differing),
            )


def _join_messages(details: Sequence[SchemaDifference]) -> str:
    ordered = sorted(details, key=lambda one: not one.breaks)
    more = f"; and {len(ordered) - _MAX_DIFFERENCES} more" if len(ordered) > _MAX_DIFFERENCES else ""
    return "; ".join(difference.message for difference in ordered[:_MAX_DIFFERENCES])[:MAX_MESSAGE] + more


def _compare_method(old: ToolDoc, new: ToolDoc) -> Iterator[SchemaDifference]:
    if old.method != new.method:
        yield SchemaDifference(f"it is called by {new.method} instead of {old.method}", breaks=True)
    if old.effect.reads != new.effect.reads:
        phrase = "only reads" if new.effect.reads else "changes something"
        yield SchemaDifference(f"by its document it now {phrase}", breaks=True)
    if old.idempotent != new.idempotent:
        phrase = "may now" if new.idempotent else "may no longer"
        yield SchemaDifference(f"by its document a call {phrase} be repeated", breaks=True)


def _compare_address(old: ToolDoc, new: ToolDoc) -> Iterator[SchemaDifference]:
    if old.address != new.address:
        yield SchemaDifference(
            f"it is called at {new.address or 'no address'} instead of {old.address or 'none'}", breaks=True
        )
    old_path, new_path = (_extract_path(tool.url) for tool in (old, new))
    if old_path != new_path:
        yield SchemaDifference(f"its path is {new_path} instead of {old_path}", breaks=True)


def _extract_path(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def _compare_auth(old: ToolDoc, new: ToolDoc) -> Iterator[SchemaDifference]:
    old_credentials, new_credentials = (
        {(credential.place, credential.name.lower()): credential for credential in tool.credentials}
        for tool in (old, new)
    )
    for key in dict.fromkeys((*old_credentials, *new_credentials)):
        before, now = old_credentials.get(key), new_credentials.get(key)
        if now is None:
            yield SchemaDifference(f"it no longer sends {key[1]} in its {key[0]}", breaks=False)
        elif before is None:
            need = "needs" if now.required else "may have"
            yield SchemaDifference(f"it {need} the key {now.secret} in its {now.place} {now.name}", breaks=True)
        elif _get_sent_form(before) != _get_sent_form(now):
            yield SchemaDifference(
                f"what it sends in its {now.place} {now.name} is another key, or written otherwise", breaks=True
            )
        elif before.required != now.required:
            phrase = "must now be sent" if now.required else "need no longer be sent"
            yield SchemaDifference(f"the key {now.secret} {phrase}", breaks=now.required)


def _get_sent_form(credential: Credential) -> tuple[str, str, bool]:
    """Return what makes two credentials send the same header or parameter."""
    return credential.secret, credential.prefix, credential.basic


def _compare_parameters(old: ToolDoc, new: ToolDoc) -> Iterator[SchemaDifference]:
    old_parameters, new_parameters = (
        {_get_place(parameter): parameter for parameter in tool.parameters} for tool in (old, new)
    )
    for key in dict.fromkeys((*old_parameters, *new_parameters)):
        before, now = old_parameters.get(key), new_parameters.get(key)
        if now is None:
            yield SchemaDifference(f"the parameter {key[1]} ({key[0]}) is gone", breaks=True)
        elif before is None:
            must = " and must be given" if now.required else ""
            yield SchemaDifference(f"the parameter {now.name} ({now.location}) is new{must}", breaks=now.required)
        else:
            yield from _compare_parameter(before, now)


def _get_place(parameter: Parameter) -> tuple[str, str]:
    return parameter.location, parameter.wire_name.lower() if parameter.location == "header" else parameter.wire_name


def _compare_parameter(old: Parameter, new: Parameter) -> Iterator[SchemaDifference]:
    if old.required != new.required:
        phrase = "must now be given" if new.required else "need no longer be given"
        yield SchemaDifference(f"{new.name} {phrase}", breaks=new.required)
    if old.name != new.name:
        yield SchemaDifference(f"{old.name} is now called {new.name}", breaks=True)
    encodings = [_get_encoding(parameter) for parameter in (old, new)]
    if encodings[0] != encodings[1]:
        yield SchemaDifference(f"{new.name} is written into the request in another way", breaks=True)
    if to_canonical_text(old.default) != to_canonical_text(new.default):
        yield SchemaDifference(
            f"{new.name} is {_shorten(new.default)} where nothing is given, instead of {_shorten(old.default)}",
            breaks=False,
        )
    yield from find_differences(_build_schema(old), _build_schema(new), "sent", new.name)


def _get_encoding(parameter: Parameter) -> tuple[object, ...]:
    """Return the properties that decide how a value is written into the request."""
    return (
        parameter.style,
        parameter.explode,
        parameter.whole_body,
        parameter.spread,
        parameter.content_type,
        parameter.allow_reserved,
    )


def _build_schema(parameter: Parameter) -> dict[str, Any]:
    """Return everything that is declared about a parameter's values as one JSON Schema."""
    facets: dict[str, Any] = {
        "type": [parameter.type, "null"] if parameter.nullable else parameter.type,
        "enum": list(parameter.enum) or None,
        "format": parameter.format,
        "minimum": parameter.minimum,
        "maximum": parameter.maximum,
    }
    facets_given = {key: value for key, value in facets.items() if value is not None}
    declared = _parse_json(parameter.json_schema)
    return {**facets_given, **declared} if isinstance(declared, dict) else facets_given


def _compare_body(old: ToolDoc, new: ToolDoc) -> Iterator[SchemaDifference]:
    if (old.body_type, old.body_media) != (new.body_type, new.body_media):
        phrase = new.body_media or new.body_type
        yield SchemaDifference(
            f"its body is sent as {phrase} instead of {old.body_media or old.body_type}", breaks=True
        )
    elif old.body_required != new.body_required:
        phrase = "is" if new.body_required else "is no longer"
        yield SchemaDifference(f"its body {phrase} sent where none of its fields is given", breaks=False)
    if old.idempotency_header != new.idempotency_header:
        yield SchemaDifference(
            "the header that tells repeated calls apart is another", breaks=bool(old.idempotency_header)
        )


def _compare_answer(old: ToolDoc, new: ToolDoc) -> Iterator[SchemaDifference]:
    old_schema, new_schema = _parse_json(old.response_schema), _parse_json(new.response_schema)
    if old_schema is None and new_schema is not None:
        yield SchemaDifference("its document now says what it answers", breaks=False)
    elif old_schema is not None and new_schema is None:
        yield SchemaDifference("its document no longer says what it answers", breaks=False)
    else:
        yield from find_differences(old_schema, new_schema, "answered", "its answer")


def _compare_texts(old: ToolDoc, new: ToolDoc) -> Iterator[SchemaDifference]:
    """Compare the texts that a model reads. A text that newly addresses the model counts as breaking."""
    new_texts = {f"the description of {parameter.name}": parameter.description for parameter in new.parameters}
    old_texts = {f"the description of {parameter.name}": parameter.description for parameter in old.parameters}
    pairs = [
        ("its description", old.description, new.description),
        ("the description of its tool set", old.toolset_description, new.toolset_description),
        *((what, old_texts.get(what, ""), text) for what, text in new_texts.items()),
    ]
    for what, old_text, new_text in pairs:
        if " ".join(old_text.split()) != " ".join(new_text.split()):
            signs = {sign.kind for sign in find_signs(new_text)} - {sign.kind for sign in find_signs(old_text)}
            phrase = f", and holds {', '.join(sorted(signs))}" if signs else ""
            if signs or what not in new_texts or what in old_texts:  # a new parameter is reported as such
                yield SchemaDifference(f"{what} is another{phrase}", breaks=bool(signs))


def _parse_json(text: str | None) -> Any:
    try:
        return None if text is None else json.loads(text)
    except ValueError:
        return {"text": text}


def _shorten(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"
