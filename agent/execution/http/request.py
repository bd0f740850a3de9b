"""Building of HTTP requests from arguments, each value encoded so that it cannot leave its place."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pydantic.types import JsonValue

from agent.execution.http.multipart import (
    OCTET_STREAM,
    check_media_type,
    choose_media_type,
    read_upload,
    write_multipart,
)
from agent.execution.http.parameter_styles import (
    build_query_pairs,
    encode_cookies,
    encode_header_value,
    encode_path_parameter,
    encode_query,
    format_as_text,
)
from agent.parameter_needs import derive_need
from domain.errors import ForbiddenAddressError, InvalidArgumentsError
from domain.model import JsonObject
from domain.tool import Location, Parameter, ToolDoc

BodyFields = list[tuple[Parameter, JsonValue]]
_DEFAULT_MEDIA = {
    "json": "application/json",
    "form": "application/x-www-form-urlencoded",
    "multipart": "multipart/form-data",
    "text": "text/plain; charset=utf-8",
}
_JSON_LINES = re.compile(r"application/(x-)?(ndjson|jsonl|jsonlines)", re.IGNORECASE)


def build_body(tool: ToolDoc, fields: BodyFields) -> tuple[bytes | None, str]:
    """Return the body and its media type; None and an empty text if there is no body to send.

    A required body that consists of fields is sent empty if no field is given: ``{}``, or a form without fields.

    Raises:
        InvalidArgumentsError: the document's media type is invalid, a file cannot be decoded, or a field of a
            ``spread_fields`` parameter has the name of another parameter.
    """
    if not fields and not _must_send_empty(tool):
        return None, ""
    declared = check_media_type(tool.body_media) if tool.body_media else ""
    if tool.body_type == "binary":
        parameter, value = next(
            ((field_parameter, field_value) for field_parameter, field_value in fields if field_parameter.whole_body),
            fields[0],
        )
        upload = read_upload(parameter.name, value)
        return upload.content, choose_media_type(declared or OCTET_STREAM, upload.media)
    media = declared or _DEFAULT_MEDIA[tool.body_type]
    spread_fields = list(_spread_fields(tool, fields))
    return (
        write_multipart(spread_fields, media)
        if tool.body_type == "multipart"
        else (_encode_fields(tool, spread_fields).encode(), media)
    )


def _must_send_empty(tool: ToolDoc) -> bool:
    fields_only = not any(parameter.whole_body for parameter in tool.parameters)
    return tool.body_required and fields_only and tool.body_type in ("json", "form", "multipart")


def _spread_fields(tool: ToolDoc, fields: BodyFields) -> Iterator[tuple[Parameter, JsonValue]]:
    """Yield the fields of the body, with ``spread`` parameters replaced by the fields that they hold."""
    names_by_wire_name = {
        body_parameter.wire_name: body_parameter.name
        for body_parameter in tool.parameters
        if body_parameter.location == "body" and not body_parameter.spread
    }
    for parameter, value in fields:
        if not parameter.spread:
            yield parameter, value
            continue
        if not isinstance(value, dict):
            raise InvalidArgumentsError(f"{parameter.name} is an object, whose fields are sent beside the others")
        for key, item in value.items():
            if key in names_by_wire_name:
                raise InvalidArgumentsError(
                    f"{parameter.name} holds {key!r}, which is a parameter of the tool; give it as {names_by_wire_name[key]} instead"
                )
            yield parameter.model_copy(update={"name": key, "sent_as": None, "spread": False}), item


def _encode_fields(tool: ToolDoc, fields: BodyFields) -> str:
    whole_value = next((value for parameter, value in fields if parameter.whole_body), None)
    if tool.body_type == "text":
        return _encode_text(tool, whole_value if whole_value is not None else fields[0][1])
    if tool.body_type == "form":
        present = ((parameter, value) for parameter, value in fields if value is not None)
        return encode_query(pair for parameter, value in present for pair in build_query_pairs(parameter, value))
    if any(parameter.whole_body for parameter, _ in fields):
        return json.dumps(whole_value, ensure_ascii=False)
    return json.dumps({parameter.wire_name: value for parameter, value in fields}, ensure_ascii=False)


def _encode_text(tool: ToolDoc, value: JsonValue) -> str:
    if not _JSON_LINES.fullmatch(tool.body_media):
        return format_as_text(value)
    # Each value of newline-delimited JSON ends with a newline, the last one too: Elasticsearch refuses a bulk without.
    lines = (
        [json.dumps(item, ensure_ascii=False) for item in value] if isinstance(value, list) else [format_as_text(value)]
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_RESERVED_HEADERS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "accept-encoding", "cookie", "expect",
     "proxy-authorization", "proxy-connection", "keep-alive"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """HTTP request, before its credentials are added."""

    method: str
    url: str
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None
    """None if there is no body."""
    keyed: bool = False
    """True if a key or token of the caller is sent."""
    has_values: bool = False
    """True if the call sends values, apart from keys and defaults, that may name a missing object."""


@dataclass(slots=True)
class _ArgumentGroups:
    """Arguments by location; path values by their name in the URL."""

    path: dict[str, tuple[Parameter, JsonValue]] = field(default_factory=dict[str, tuple[Parameter, JsonValue]])
    query: list[tuple[Parameter, JsonValue]] = field(default_factory=list[tuple[Parameter, JsonValue]])
    header: list[tuple[Parameter, JsonValue]] = field(default_factory=list[tuple[Parameter, JsonValue]])
    cookie: list[tuple[Parameter, JsonValue]] = field(default_factory=list[tuple[Parameter, JsonValue]])
    body: list[tuple[Parameter, JsonValue]] = field(default_factory=list[tuple[Parameter, JsonValue]])


def build_request(tool: ToolDoc, arguments: JsonObject) -> OutgoingRequest:
    """Build the request of a call, without the credentials of the document (``agent.execution.http.credentials``).

    Null is sent in a body if the parameter is nullable; elsewhere it counts as no argument.

    Raises:
        InvalidArgumentsError: a value cannot be encoded where it belongs (an empty path value or ``..``, a line break
            in a header), a path parameter has no value, or the tool has no URL.
        ForbiddenAddressError: the document lets an argument choose the host.
    """
    if not tool.url:
        raise InvalidArgumentsError(
            f"{tool.api} is known by its document only and has no URL: import it again with --server https://its-host,"
            " or use the replay executor"
        )
    groups = _group_arguments(tool, arguments)
    headers = {parameter.wire_name: _format_header(parameter, value) for parameter, value in groups.header}
    if groups.cookie:
        headers["Cookie"] = "; ".join(
            text for cookie_parameter, value in groups.cookie for text in encode_cookies(cookie_parameter, value)
        )
    body, media = build_body(tool, groups.body)
    if body is not None and not any(name.lower() == "content-type" for name in headers):
        headers["Content-Type"] = media
    query = encode_query(pair for parameter, value in groups.query for pair in build_query_pairs(parameter, value))
    parameters = {parameter.name: parameter for parameter in tool.parameters}
    secret_names = {name for name, parameter in parameters.items() if derive_need(parameter).kind == "secret"}
    present = {name: value for name, value in arguments.items() if value is not None}
    return OutgoingRequest(
        method=tool.method.upper(),
        url=_append_query(_fill_url(tool.url, groups.path), query),
        headers=headers,
        body=body,
        keyed=not secret_names.isdisjoint(present),
        has_values=any(
            name not in parameters or parameters[name].default != value
            for name, value in present.items()
            if name not in secret_names
        ),
    )


def _group_arguments(tool: ToolDoc, arguments: JsonObject) -> _ArgumentGroups:
    parameters = {parameter.name: parameter for parameter in tool.parameters}
    present: dict[str, tuple[Parameter, JsonValue]] = {}
    for name, value in arguments.items():
        parameter = parameters.get(name) or Parameter(name=name)
        if value is not None or (parameter.nullable and parameter.location == "body"):
            present[name] = (parameter, value)
    url_names = _match_placeholders(
        tool.url, [name for name, (candidate, _) in present.items() if candidate.location in ("path", "query", "body")]
    )
    groups = _ArgumentGroups()
    for name, (parameter, value) in present.items():
        if name in url_names:
            groups.path[url_names[name]] = (parameter, value)
        else:
            _add_to_group(groups, parameter, value)
    return groups


def _add_to_group(groups: _ArgumentGroups, parameter: Parameter, value: JsonValue) -> None:
    location: Location = parameter.location
    match location:
        case "query":
            groups.query.append((parameter, value))
        case "header":
            groups.header.append((parameter, value))
        case "cookie":
            groups.cookie.append((parameter, value))
        case "body":
            groups.body.append((parameter, value))
        case "path":
            name = parameter.wire_name
            raise InvalidArgumentsError(f"{name} is a path parameter, but the URL has no place {{{name}}} for it")


def _match_placeholders(url: str, names: Iterable[str]) -> dict[str, str]:
    """Return, for arguments with a placeholder in the URL, the placeholder's name.

    The names are equal, or differ only in case, as in some catalogues.
    """
    placeholders = _PLACEHOLDER.findall(url)
    folded = {place.casefold(): place for place in placeholders}
    exact = {name: name for name in names if name in placeholders}
    case_matches = {name: folded[name.casefold()] for name in names if name not in exact and name.casefold() in folded}
    return exact | {name: place for name, place in case_matches.items() if place not in exact}


def _fill_url(template: str, values: dict[str, tuple[Parameter, JsonValue]]) -> str:
    """Fill every placeholder of a URL template; each value remains inside its segment."""
    try:
        authority = urlsplit(template).netloc
    except ValueError as error:
        raise ForbiddenAddressError(f"the URL cannot be read ({error}); correct the tool's document") from error
    if "{" in authority or "{" in template.partition("://")[0]:
        raise ForbiddenAddressError("the tool's URL lets an argument choose the host; correct the tool's document")
    missing = list(dict.fromkeys(name for name in _PLACEHOLDER.findall(template) if name not in values))
    if missing:
        raise InvalidArgumentsError(f"the URL needs a value for: {', '.join(missing)}")
    filled = _PLACEHOLDER.sub(lambda found: encode_path_parameter(*values[found[1]]), template)
    if not _is_within_template(template, filled):
        raise InvalidArgumentsError("these path values would make another URL than the catalogue's; give others")
    return filled


def _is_within_template(template: str, filled: str) -> bool:
    """Return whether a filled URL has its template's host and number of segments, and no new ``.`` or ``..``."""
    filled_parts, template_parts = urlsplit(filled), urlsplit(template)
    segments, template_segments = filled_parts.path.split("/"), template_parts.path.split("/")
    climbing = [segment for segment in segments if segment in (".", "..")]
    return (
        (filled_parts.scheme, filled_parts.netloc) == (template_parts.scheme, template_parts.netloc)
        and len(segments) == len(template_segments)
        and climbing == [place for place in template_segments if place in (".", "..")]
    )


def _append_query(url: str, query: str) -> str:
    """Append to the URL's own query and drop its fragment, which is never sent."""
    url = url.partition("#")[0]
    return f"{url}{'&' if '?' in url else '?'}{query}" if query else url


def _format_header(parameter: Parameter, value: JsonValue) -> str:
    name, text = parameter.wire_name, encode_header_value(parameter, value)
    if not _HEADER_NAME.fullmatch(name) or name.lower() in _RESERVED_HEADERS:
        raise InvalidArgumentsError(f"{name} cannot be sent as a header")
    if not text.isascii() or any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise InvalidArgumentsError(f"{name} is sent as a header: plain ASCII without line breaks, please")
    return text.strip()
