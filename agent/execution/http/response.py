"""Reading of HTTP responses up to a limit: decompression, decoding, and notes on what is unusual about the body."""

import codecs
import re
import zlib
from dataclasses import dataclass

import httpx
import orjson

from graph.lenient_json import MAX_DEPTH, is_text_too_deep

_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_FORBIDDEN_CODECS = frozenset(
    {"idna", "punycode", "unicode_escape", "raw_unicode_escape", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7", "mbcs", "oem"}
)  # fmt: skip
"""Python codecs that servers may not choose, since they take quadratic time or interpret escapes."""


def decode_text(data: bytes, charset: str | None, *, complete: bool) -> tuple[str, str]:
    """Return the text, and a note if the charset was guessed.

    Unless ``complete``, the data may end within a character.
    """
    declared_codec = _find_codec(charset)
    marked_codec = next((codec for mark, codec in _BYTE_ORDER_MARKS if data.startswith(mark)), None)
    if marked_codec or declared_codec:
        return _decode_leniently(data, marked_codec or declared_codec or ""), ""
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(data, final=complete), ""
    except UnicodeDecodeError:
        if charset:
            return _decode_leniently(data, "utf-8"), ""
        return _decode_leniently(data, "cp1252"), "not UTF-8, and no charset is declared: read as Windows-1252"


def _find_codec(charset: str | None) -> str | None:
    try:
        name = codecs.lookup(charset or "").name
    except (LookupError, ValueError):
        return None
    return None if name in _FORBIDDEN_CODECS else name


def _decode_leniently(data: bytes, codec: str) -> str:
    try:
        return data.decode(codec, errors="replace")
    except (LookupError, ValueError):
        return data.decode("utf-8", errors="replace")


_TEXT_MEDIA_TYPE = re.compile(r"text/|[/+](json|xml|javascript|yaml|csv|x-www-form-urlencoded|x-ndjson|graphql)\b")
_NOT_JSON_NOTE = "declared as JSON, but is not"
_JSON_STARTS = b"{["
_WHITE_SPACE = b" \t\r\n\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class IncomingBody:
    """Body of a response, as far as it was read and decoded."""

    text: str
    note: str = ""
    transfer_error: str = ""
    """Reason for which the transfer broke off; empty if it did not."""
    unusable_reason: str = ""
    """Reason for which it cannot be read as text; empty if it can."""
    truncated: bool = False
    """True if the body is longer than the limit."""
    ends_early: bool = False
    """True if the body is JSON without its end, although the transfer was complete."""


async def read_response(response: httpx.Response, limit: int) -> IncomingBody:
    """Read at most ``limit`` bytes of a streamed response; the rest is never requested."""
    if response.status_code < 200 or response.status_code in (204, 205, 304):
        return IncomingBody("")
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    encoding = response.headers.get("content-encoding", "").strip().lower()
    is_other_media = bool(media_type) and not _TEXT_MEDIA_TYPE.search(media_type)
    # A body whose declared type is not text is read only if it starts like JSON: wrong declarations are common.
    raw, cut, broken = await _read_bytes(
        response, limit, allowed_first=_JSON_STARTS if is_other_media and not encoding else b""
    )
    if raw is None:
        size = response.headers.get("content-length", "unknown number of")
        return IncomingBody("", unusable_reason=f"binary response ({media_type}, {size} bytes), not kept")
    data, exceeds_limit, problem = decompress(raw, encoding, limit, complete=not (cut or broken))
    if problem:
        return IncomingBody("", unusable_reason=problem, transfer_error=broken)
    return _decode_body(
        data,
        media_type,
        response.charset_encoding,
        IncomingBody("", transfer_error=broken, truncated=cut or exceeds_limit),
    )


def _decode_body(data: bytes, media_type: str, charset: str | None, partial: IncomingBody) -> IncomingBody:
    """Decode a body and add notes on it; ``partial`` says how the transfer ended."""
    if data.lstrip(_WHITE_SPACE)[:1] in (b"{", b"[") and is_text_too_deep(data.decode("latin-1")):
        return IncomingBody(
            "",
            unusable_reason=f"the answer is nested deeper than {MAX_DEPTH} levels, not kept",
            transfer_error=partial.transfer_error,
        )
    is_json = _is_json(data)
    complete = not (partial.truncated or partial.transfer_error)
    if b"\0" in data[:1024] and not is_json and not (charset or "").lower().startswith(("utf-16", "utf-32")):
        text, guess_note = (
            decode_text(data, charset, complete=complete) if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("", "")
        )
        if not text:
            return IncomingBody(
                "",
                unusable_reason=f"binary response ({media_type or 'no content type'}), not kept",
                transfer_error=partial.transfer_error,
            )
    else:
        text, guess_note = decode_text(data, charset, complete=complete)
    notes = [f"cut at {len(data)} bytes"] if partial.truncated else []
    if "json" in media_type and data and complete and not is_json:
        notes.append(_NOT_JSON_NOTE)
        if text.lstrip()[:1] in ("{", "[") and text.rstrip()[-1:] not in ("}", "]"):
            return IncomingBody(text, _NOT_JSON_NOTE, ends_early=True)
    if is_json and media_type and not _TEXT_MEDIA_TYPE.search(media_type):
        notes.append(f"declared as {media_type}, but is JSON")
    if media_type.startswith("text/html") and not is_json:
        notes.append("an HTML page")
    return IncomingBody(
        text,
        "; ".join([*notes, *([guess_note] if guess_note else [])]),
        partial.transfer_error,
        truncated=partial.truncated,
    )


async def _read_bytes(response: httpx.Response, limit: int, *, allowed_first: bytes) -> tuple[bytes | None, bool, str]:
    """Return at most ``limit`` bytes as sent, whether there were more, and why the transfer broke off.

    If ``allowed_first`` is not empty, None is returned in place of the bytes unless the body begins, after white space, with
    one of the bytes in ``allowed_first``.
    """
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in response.aiter_raw():
            if allowed_first and (start := (b"".join(chunks) + chunk[:64]).lstrip(_WHITE_SPACE)):
                if start[0] not in allowed_first:
                    return None, False, ""
                allowed_first = b""
            chunks.append(chunk[: limit - size])
            size += len(chunk)
            if size > limit:
                return b"".join(chunks), True, ""
    except (httpx.RemoteProtocolError, httpx.ReadError) as error:
        return b"".join(chunks), False, f"the response broke off after {size} bytes ({error or type(error).__name__})"
    return b"".join(chunks), False, ""


def decompress(raw: bytes, encoding: str, limit: int, *, complete: bool) -> tuple[bytes, bool, str]:
    """Return the decompressed bytes of a body up to the limit, whether there were more, and why they cannot be read."""
    if encoding in ("", "identity"):
        return raw, False, ""
    if encoding not in ("gzip", "x-gzip", "deflate"):
        encoding_name = encoding if encoding.isalpha() and len(encoding) < 9 else "something unknown"
        return b"", False, f"the response is compressed as {encoding_name!r}, which was not asked for"
    for window_bits in (
        (47, -15) if encoding == "deflate" else (47,)
    ):  # 47 detects gzip or zlib by the header; -15 is raw deflate
        decompressor = zlib.decompressobj(wbits=window_bits)
        try:
            data = decompressor.decompress(raw, limit)
        except zlib.error:
            continue
        if complete and raw and not decompressor.eof and not decompressor.unconsumed_tail:
            break
        return data, bool(decompressor.unconsumed_tail), ""
    return b"", False, f"the response is said to be compressed as {encoding}, and cannot be decompressed"


def _is_json(data: bytes) -> bool:
    try:
        orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        return False
    return True
