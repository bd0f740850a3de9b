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
    declared = _find_codec(charset)
    marked = next((codec for mark, codec in _BYTE_ORDER_MARKS if data.startswith(mark)), None)
    if marked or declared:
        return _decode_leniently(data, marked or declared or ""), ""
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


_TEXT_MEDIA = re.compile(r"text/|[/+](json|xml|javascript|yaml|csv|x-www-form-urlencoded|x-ndjson|graphql)\b")
_NOT_JSON = "declared as JSON, but is not"
_JSON_STARTS = b"{["
_SPACE = b" \t\r\n\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class IncomingBody:
    """Body of a response, as far as it was read and decoded."""

    text: str
    note: str = ""
    broken: str = ""
    """Reason for which the transfer broke off; empty if it did not."""
    unusable: str = ""
    """Reason for which it cannot be read as text; empty if it can."""
    cut: bool = False
    """True if the body is longer than the limit."""
    ends_early: bool = False
    """True if the body is JSON without its end, although the transfer was complete."""


async def read_response(response: httpx.Response, limit: int) -> IncomingBody:
    """Read at most ``limit`` bytes of a streamed response; the rest is never requested."""
    if response.status_code < 200 or response.status_code in (204, 205, 304):
        return IncomingBody("")
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    encoding = response.headers.get("content-encoding", "").strip().lower()
    foreign = bool(kind) and not _TEXT_MEDIA.search(kind)
    # A body whose declared type is not text is read only if it starts like JSON: wrong declarations are common.
    raw, cut, broken = await _read_bytes(response, limit, first=_JSON_STARTS if foreign and not encoding else b"")
    if raw is None:
        size = response.headers.get("content-length", "unknown number of")
        return IncomingBody("", unusable=f"binary response ({kind}, {size} bytes), not kept")
    data, more, problem = decompress(raw, encoding, limit, complete=not (cut or broken))
    if problem:
        return IncomingBody("", unusable=problem, broken=broken)
    return _decode_body(data, kind, response.charset_encoding, IncomingBody("", broken=broken, cut=cut or more))


def _decode_body(data: bytes, kind: str, charset: str | None, partial: IncomingBody) -> IncomingBody:
    """Decode a body and add notes on it; ``partial`` says how the transfer ended."""
    if data.lstrip(_SPACE)[:1] in (b"{", b"[") and is_text_too_deep(data.decode("latin-1")):
        return IncomingBody(
            "", unusable=f"the answer is nested deeper than {MAX_DEPTH} levels, not kept", broken=partial.broken
        )
    is_json = _is_json(data)
    complete = not (partial.cut or partial.broken)
    if b"\0" in data[:1024] and not is_json and not (charset or "").lower().startswith(("utf-16", "utf-32")):
        text, guess_note = (
            decode_text(data, charset, complete=complete) if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("", "")
        )
        if not text:
            return IncomingBody(
                "", unusable=f"binary response ({kind or 'no content type'}), not kept", broken=partial.broken
            )
    else:
        text, guess_note = decode_text(data, charset, complete=complete)
    notes = [f"cut at {len(data)} bytes"] if partial.cut else []
    if "json" in kind and data and complete and not is_json:
        notes.append(_NOT_JSON)
        if text.lstrip()[:1] in ("{", "[") and text.rstrip()[-1:] not in ("}", "]"):
            return IncomingBody(text, _NOT_JSON, ends_early=True)
    if is_json and kind and not _TEXT_MEDIA.search(kind):
        notes.append(f"declared as {kind}, but is JSON")
    if kind.startswith("text/html") and not is_json:
        notes.append("an HTML page")
    return IncomingBody(
        text, "; ".join([*notes, *([guess_note] if guess_note else [])]), partial.broken, cut=partial.cut
    )


async def _read_bytes(response: httpx.Response, limit: int, *, first: bytes) -> tuple[bytes | None, bool, str]:
    """Return at most ``limit`` bytes as sent, whether there were more, and why the transfer broke off.

    If ``first`` is not empty, None is returned in place of the bytes unless the body begins, after white space, with
    one of the bytes in ``first``.
    """
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in response.aiter_raw():
            if first and (begun := (b"".join(chunks) + chunk[:64]).lstrip(_SPACE)):
                if begun[0] not in first:
                    return None, False, ""
                first = b""
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
    for window in (
        (47, -15) if encoding == "deflate" else (47,)
    ):  # 47 detects gzip or zlib by the header; -15 is raw deflate
        engine = zlib.decompressobj(wbits=window)
        try:
            data = engine.decompress(raw, limit)
        except zlib.error:
            continue
        if complete and raw and not engine.eof and not engine.unconsumed_tail:
            break
        return data, bool(engine.unconsumed_tail), ""
    return b"", False, f"the response is said to be compressed as {encoding}, and cannot be decompressed"


def _is_json(data: bytes) -> bool:
    try:
        orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        return False
    return True
