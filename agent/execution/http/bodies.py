"""Bodies of requests: JSON, a form, a multipart form, text, or the bytes of a file."""

import json
import re
from collections.abc import Iterator

from pydantic.types import JsonValue

from agent.execution.http.multipart import OCTETS, check_media, choose_media, read_upload, write_multipart
from agent.execution.http.parameter_styles import pairs, plain, query_text
from domain.errors import InvalidArgumentsError
from domain.tool import Parameter, ToolDoc

Fields = list[tuple[Parameter, JsonValue]]
_USUAL = {
    "json": "application/json",
    "form": "application/x-www-form-urlencoded",
    "multipart": "multipart/form-data",
    "text": "text/plain; charset=utf-8",
}
_JSON_LINES = re.compile(r"application/(x-)?(ndjson|jsonl|jsonlines)", re.IGNORECASE)


def body_of(tool: ToolDoc, fields: Fields) -> tuple[bytes | None, str]:
    """Return the body and its media type; None and an empty text where there is no body to send.

    A required body that consists of fields is sent empty where no field is given: ``{}``, or a form without fields.

    Raises ``InvalidArgumentsError`` where the document's media type is invalid, a file cannot be decoded, or a field of a ``spread``
    parameter has the name of another parameter.
    """
    if not fields and not _must_send_empty(tool):
        return None, ""
    declared = check_media(tool.body_media) if tool.body_media else ""
    if tool.body_type == "binary":
        parameter, value = next(((one, given) for one, given in fields if one.whole_body), fields[0])
        upload = read_upload(parameter.name, value)
        return upload.content, choose_media(declared or OCTETS, upload.media)
    media = declared or _USUAL[tool.body_type]
    sent = list(_spread_fields(tool, fields))
    return write_multipart(sent, media) if tool.body_type == "multipart" else (_content(tool, sent).encode(), media)


def _must_send_empty(tool: ToolDoc) -> bool:
    fields_only = not any(one.whole_body for one in tool.parameters)
    return tool.body_required and fields_only and tool.body_type in ("json", "form", "multipart")


def _spread_fields(tool: ToolDoc, fields: Fields) -> Iterator[tuple[Parameter, JsonValue]]:
    """Yield the fields of the body, those that ``spread`` parameters hold among them."""
    named = {one.wire_name: one.name for one in tool.parameters if one.location == "body" and not one.spread}
    for parameter, value in fields:
        if not parameter.spread:
            yield parameter, value
            continue
        if not isinstance(value, dict):
            raise InvalidArgumentsError(f"{parameter.name} is an object, whose fields are sent beside the others")
        for key, item in value.items():
            if key in named:
                raise InvalidArgumentsError(
                    f"{parameter.name} holds {key!r}, which is a parameter of the tool; give it as {named[key]} instead"
                )
            yield parameter.model_copy(update={"name": key, "sent_as": None, "spread": False}), item


def _content(tool: ToolDoc, fields: Fields) -> str:
    whole = next((value for parameter, value in fields if parameter.whole_body), None)
    if tool.body_type == "text":
        return _text(tool, whole if whole is not None else fields[0][1])
    if tool.body_type == "form":
        given = ((parameter, value) for parameter, value in fields if value is not None)
        return query_text(pair for parameter, value in given for pair in pairs(parameter, value))
    if any(parameter.whole_body for parameter, _ in fields):
        return json.dumps(whole, ensure_ascii=False)
    return json.dumps({parameter.wire_name: value for parameter, value in fields}, ensure_ascii=False)


def _text(tool: ToolDoc, value: JsonValue) -> str:
    if not _JSON_LINES.fullmatch(tool.body_media):
        return plain(value)
    # Each value of newline-delimited JSON ends with a newline, the last one too: Elasticsearch refuses a bulk without.
    lines = [json.dumps(item, ensure_ascii=False) for item in value] if isinstance(value, list) else [plain(value)]
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
