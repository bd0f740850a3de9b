"""Multipart bodies and file uploads, whose bytes, media type and name come from the text that a caller gives."""

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from mimetypes import MimeTypes
from urllib.parse import unquote, unquote_to_bytes

from pydantic.types import JsonValue

from agent.execution.http.parameter_styles import to_text
from domain.errors import InvalidArgumentsError
from domain.tool import Parameter

OCTETS = "application/octet-stream"
_PARAMETER = r"[a-z0-9!#$&^_.+-]+"
_MEDIA_TYPE = re.compile(
    rf'{_PARAMETER}/(?:{_PARAMETER}|\*)(?:\s*;\s*{_PARAMETER}=(?:{_PARAMETER}|"[^"\r\n]*"))*', re.IGNORECASE
)
_DATA_URL = re.compile(
    rf"data:(?P<media>{_PARAMETER}/{_PARAMETER})?(?P<options>(?:;{_PARAMETER}=[^;,]*)*);base64\b", re.IGNORECASE
)
_PLAIN_DATA_URL = re.compile(
    rf"data:(?P<media>{_PARAMETER}/{_PARAMETER})(?P<options>(?:;{_PARAMETER}=[^;,]*)*),", re.IGNORECASE
)
_JOINTS = {"form": ",", "spaceDelimited": " ", "pipeDelimited": "|"}
_EXTENSIONS = MimeTypes()
"""Python's own media types, without this machine's, so that a call is the same request everywhere."""


@dataclass(frozen=True, slots=True)
class FileUpload:
    """File to be sent."""

    content: bytes
    media: str = ""
    """Media type of a data URL; empty for plain text."""
    name: str = ""
    """Name in a data URL; empty if there is none."""


def read_upload(name: str, value: JsonValue) -> FileUpload:
    """Return the bytes of a file: those of a ``data:`` URL, else the text in UTF-8.

    Raises:
        InvalidArgumentsError: the data URL of the parameter ``name`` cannot be decoded.
    """
    text = to_text(value)
    if escaped := _PLAIN_DATA_URL.match(text):
        return _describe_upload(unquote_to_bytes(text[escaped.end() :]), escaped)
    head = _DATA_URL.match(text)
    if head is None:
        return FileUpload(text.encode())
    mark, payload = text[head.end() : head.end() + 1], "".join(unquote(text[head.end() + 1 :]).split())
    try:
        if mark != ",":
            raise ValueError("it has no comma before its data")
        content = base64.b64decode(payload.rstrip("=") + "=" * (-len(payload.rstrip("=")) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidArgumentsError(
            f"{name} begins like a data URL in base64, but cannot be decoded ({error}); give data:MEDIA/TYPE;base64,DATA"
        ) from error
    return _describe_upload(content, head)


def _describe_upload(content: bytes, head: re.Match[str]) -> FileUpload:
    options = dict(option.split("=", 1) for option in head["options"].split(";") if option)
    # Only the last part of the name, since some servers write an upload to the path that it names.
    name = re.split(r"[/\\]", unquote(options.get("name", "")))[-1]
    return FileUpload(content, (head["media"] or "").lower(), name)


def choose_media(declared: str, own: str) -> str:
    """Return the media type of a file: the declared one unless that is a range.

    For a range such as ``image/*`` it is the file's ``own`` type if that is in it, else ``application/octet-stream``.
    """
    if "*" not in declared:
        return declared
    return own if own.startswith(declared.partition("*")[0]) and own else OCTETS


def check_media(media: str) -> str:
    """Return the document's media type; raise ``InvalidArgumentsError`` for one that would break the request."""
    if media != "*/*" and not _MEDIA_TYPE.fullmatch(media):
        raise InvalidArgumentsError(f"the document's media type {media[:100]!r} cannot be sent; correct the document")
    return media


def write_multipart(fields: Iterable[tuple[Parameter, JsonValue]], media: str) -> tuple[bytes, str]:
    """Return a multipart body and its media type (RFC 7578).

    Items of a list become parts of the same name, objects become JSON, and ``binary`` fields become files.
    """
    parts = [part for parameter, value in fields for part in _write_parts(parameter, value)]
    # A digest of the parts occurs in none of them, and repeating a call gives the same request.
    boundary = hashlib.sha256(b"\0".join(parts)).hexdigest()[:40]
    framed = b"".join(b"--" + boundary.encode() + b"\r\n" + part + b"\r\n" for part in parts)
    return framed + b"--" + boundary.encode() + b"--\r\n", f"{media}; boundary={boundary}"


def _write_parts(parameter: Parameter, value: JsonValue) -> list[bytes]:
    if not isinstance(value, list):
        return [] if value is None else [_write_part(parameter, value)]
    items = [item for item in value if item is not None]
    if parameter.style in _JOINTS and parameter.explode is False and parameter.format != "binary":
        return [_write_part(parameter, _JOINTS[parameter.style].join(map(to_text, items)))] if items else []
    return [_write_part(parameter, item, number) for number, item in enumerate(items, 1)]


def _write_part(parameter: Parameter, value: JsonValue, number: int = 0) -> bytes:
    """Return one part; ``number`` is its index in a list, from 1, which keeps names of files in a list apart."""
    head = f'Content-Disposition: form-data; name="{_quote(parameter.wire_name)}"'
    media = check_media(parameter.content_type) if parameter.content_type else ""
    if parameter.format == "binary":
        upload = read_upload(parameter.name, value)
        # Frameworks declare every file of a form as octet-stream, so the caller's type is more specific.
        kind = choose_media("*/*" if media in ("", OCTETS) else media, upload.media)
        filename = upload.name or parameter.wire_name + (f"-{number}" if number else "") + _find_extension(kind)
        head += f'; filename="{_quote(filename)}"\r\nContent-Type: {kind}'
        return head.encode() + b"\r\n\r\n" + upload.content
    if parameter.format == "base64":
        # OpenAPI 3.1.1, 4.8.15: contentEncoding is this header of the part.
        head += f"\r\nContent-Type: {media or OCTETS}\r\nContent-Transfer-Encoding: base64"
    elif media or isinstance(value, (dict, list)):
        head += f"\r\nContent-Type: {media or 'application/json'}"
    return f"{head}\r\n\r\n{to_text(value)}".encode()


def _find_extension(media: str) -> str:
    """Return the usual file name extension of a media type, which many servers go by; empty for octet-stream."""
    plain_media = media.partition(";")[0].strip()
    return "" if plain_media == OCTETS else _EXTENSIONS.guess_extension(plain_media) or ""


def _quote(name: str) -> str:
    """Escape a name so that it cannot end its quotes or its line (WHATWG, multipart/form-data encoding)."""
    return name.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")
