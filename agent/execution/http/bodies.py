"""The body of a request: JSON, a form, a multipart form, or text."""

import hashlib
import json
import re

from pydantic.types import JsonValue

from agent.execution.http.parameter_styles import pairs, plain, query_text
from domain.errors import InvalidArgumentsError
from domain.tool import Parameter, ToolDoc

Fields = list[tuple[Parameter, JsonValue]]
_USUAL = {"json": "application/json", "form": "application/x-www-form-urlencoded", "text": "text/plain; charset=utf-8"}
_MEDIA = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+*-]+", re.IGNORECASE)


def body_of(tool: ToolDoc, fields: Fields) -> tuple[bytes | None, str]:
    """The body and its media type; None and nothing where there is none to send.

    Raises ``InvalidArgumentsError`` where the media type of the document is none.
    """
    if not fields:
        return None, ""
    if tool.body_type == "multipart":
        return _multipart(fields)
    content, media = _content(tool, fields), tool.body_media or _USUAL[tool.body_type]
    if tool.body_media and not _MEDIA.fullmatch(media):
        raise InvalidArgumentsError(f"the document's media type {media[:100]!r} cannot be sent; correct the document")
    return content.encode(), media


def _content(tool: ToolDoc, fields: Fields) -> str:
    whole = next((value for parameter, value in fields if parameter.whole_body), None)
    if tool.body_type == "text":
        return plain(whole if whole is not None else fields[0][1])
    if tool.body_type == "form":
        return query_text([pair for parameter, value in fields for pair in pairs(parameter, value)])
    if any(parameter.whole_body for parameter, _ in fields):
        return json.dumps(whole, ensure_ascii=False)
    return json.dumps({parameter.wire_name: value for parameter, value in fields}, ensure_ascii=False)


def _multipart(fields: Fields) -> tuple[bytes, str]:
    """``multipart/form-data`` (RFC 7578): lists as parts of one name, objects as JSON, ``binary`` fields as files."""
    parts = [
        part
        for parameter, value in fields
        for item in (value if isinstance(value, list) else [value])
        if item is not None and (part := _part(parameter, item))
    ]
    # The boundary is a digest of the parts, so it is in none of them, and a request repeated is the same request.
    boundary = hashlib.sha256(b"\0".join(parts)).hexdigest()[:40]
    framed = b"".join(b"--" + boundary.encode() + b"\r\n" + part + b"\r\n" for part in parts)
    return framed + b"--" + boundary.encode() + b"--\r\n", f"multipart/form-data; boundary={boundary}"


def _part(parameter: Parameter, value: JsonValue) -> bytes:
    # A name cannot end its quotes or its line (WHATWG, multipart/form-data encoding).
    name = parameter.wire_name.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")
    head = f'Content-Disposition: form-data; name="{name}"'
    if parameter.format == "binary":
        head += f'; filename="{name}"\r\nContent-Type: application/octet-stream'
    elif isinstance(value, (dict, list)):
        head += "\r\nContent-Type: application/json"
    return f"{head}\r\n\r\n{plain(value)}".encode()
