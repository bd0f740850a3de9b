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

from agent.execution.http.parameter_styles import format_as_text
from domain.errors import InvalidArgumentsError
from domain.tool import Parameter

OCTET_STREAM = "application/octet-stream"
_MEDIA_WORD = r"[a-z0-9!#$&^_.+-]+"
_MEDIA_TYPE = re.compile(
    rf'{_MEDIA_WORD}/(?:{_MEDIA_WORD}|\*)(?:\s*;\s*{_MEDIA_WORD}=(?:{_MEDIA_WORD}|"[^"\r\n]*"))*', re.IGNORECASE
)
_DATA_URL = re.compile(
    rf"data:(?P<media>{_MEDIA_WORD}/{_MEDIA_WORD})?(?P<options>(?:;{_MEDIA_WORD}=[^;,]*)*);base64\b", re.IGNORECASE
)
_PLAIN_DATA_URL = re.compile(
    rf"data:(?P<media>{_MEDIA_WORD}/{_MEDIA_WORD})(?P<options>(?:;{_MEDIA_WORD}=[^;,]*)*),", re.IGNORECASE
)
_LIST_SEPARATORS = {"form": ",", "spaceDelimited": " ", "pipeDelimited": "|"}
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
    text = format_as_text(value)
    if escaped := _PLAIN_DATA_URL.match(text):
        return _build_upload(unquote_to_bytes(text[escaped.end() :]), escaped)
    prefix = _DATA_URL.match(text)
    if prefix is None:
        return FileUpload(text.encode())
    separator, payload = text[prefix.end() : prefix.end() + 1], "".join(unquote(text[prefix.end() + 1 :]).split())
    try:
        if separator != ",":
            raise ValueError("it has no comma before its data")
        content = base64.b64decode(payload.rstrip("=") + "=" * (-len(payload.rstrip("=")) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidArgumentsError(
            f"{name} begins like a data URL in base64, but cannot be decoded ({error}); give data:MEDIA/TYPE;base64,DATA"
        ) from error
    return _build_upload(content, prefix)


def _build_upload(content: bytes, prefix: re.Match[str]) -> FileUpload:
    options = dict(option.split("=", 1) for option in prefix["options"].split(";") if option)
    # Only the last part of the name, since some servers write an upload to the path that it names.
    name = re.split(r"[/\\]", unquote(options.get("name", "")))[-1]
    return FileUpload(content, (prefix["media"] or "").lower(), name)


def choose_media_type(declared: str, file_media: str) -> str:
    """Return the media type of a file: the declared one unless that is a range.

    For a range such as ``image/*`` it is the file's ``file_media`` type if that is in it, else ``application/octet-stream``.
    """
    if "*" not in declared:
        return declared
    return file_media if file_media.startswith(declared.partition("*")[0]) and file_media else OCTET_STREAM


def check_media_type(media: str) -> str:
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
    if parameter.style in _LIST_SEPARATORS and parameter.explode is False and parameter.format != "binary":
        return (
            [_write_part(parameter, _LIST_SEPARATORS[parameter.style].join(map(format_as_text, items)))]
            if items
            else []
        )
    return [_write_part(parameter, item, number) for number, item in enumerate(items, 1)]


def _write_part(parameter: Parameter, value: JsonValue, number: int = 0) -> bytes:
    """Return one part; ``number`` is its index in a list, from 1, which keeps names of files in a list apart."""
    header = f'Content-Disposition: form-data; name="{_escape_quoted(parameter.wire_name)}"'
    media = check_media_type(parameter.content_type) if parameter.content_type else ""
    if parameter.format == "binary":
        upload = read_upload(parameter.name, value)
        # Frameworks declare every file of a form as octet-stream, so the caller's type is more specific.
        kind = choose_media_type("*/*" if media in ("", OCTET_STREAM) else media, upload.media)
        filename = upload.name or parameter.wire_name + (f"-{number}" if number else "") + _find_extension(kind)
        header += f'; filename="{_escape_quoted(filename)}"\r\nContent-Type: {kind}'
        return header.encode() + b"\r\n\r\n" + upload.content
    if parameter.format == "base64":
        # OpenAPI 3.1.1, 4.8.15: contentEncoding is this header of the part.
        header += f"\r\nContent-Type: {media or OCTET_STREAM}\r\nContent-Transfer-Encoding: base64"
    elif media or isinstance(value, (dict, list)):
        header += f"\r\nContent-Type: {media or 'application/json'}"
    return f"{header}\r\n\r\n{format_as_text(value)}".encode()


def _find_extension(media: str) -> str:
    """Return the usual file name extension of a media type, which many servers go by; empty for octet-stream."""
    plain_media = media.partition(";")[0].strip()
    return "" if plain_media == OCTET_STREAM else _EXTENSIONS.guess_extension(plain_media) or ""


def _escape_quoted(name: str) -> str:
    """Escape a name so that it cannot end its quotes or its line (WHATWG, multipart/form-data encoding)."""
    return name.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")
