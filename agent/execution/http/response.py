"""Reads an HTTP response up to a limit and decodes it, with a note on what a reader must know."""

import re
import zlib
from dataclasses import dataclass

import httpx
import orjson

from agent.execution.http.charsets import decoded
from graph.lenient_json import MAX_DEPTH, written_deep

_TEXTUAL = re.compile(r"text/|[/+](json|xml|javascript|yaml|csv|x-www-form-urlencoded|x-ndjson|graphql)\b")
_NOT_JSON = "declared as JSON, but is not"
_JSON_BEGINS = b"{["
_SPACE = b" \t\r\n\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Incoming:
    """Body of a response, as far as it was read."""

    text: str
    note: str = ""
    broken: str = ""
    """Why the transfer ended before its end; empty where it did not."""
    unusable: str = ""
    """Why it cannot be read as text; empty where it can."""
    cut: bool = False
    """The body is longer than the limit."""
    ends_early: bool = False
    """The body is JSON without its end."""


async def read(response: httpx.Response, limit: int) -> Incoming:
    """Read at most ``limit`` bytes of a streamed response; the rest is never requested."""
    if response.status_code < 200 or response.status_code in (204, 205, 304):
        return Incoming("")
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    encoding = response.headers.get("content-encoding", "").strip().lower()
    foreign = bool(kind) and not _TEXTUAL.search(kind)
    # A body that its type calls no text is read only where it may be JSON after all, which is a common mistake.
    raw, cut, broken = await _bytes(response, limit, first=_JSON_BEGINS if foreign and not encoding else b"")
    if raw is None:
        size = response.headers.get("content-length", "unknown number of")
        return Incoming("", unusable=f"binary response ({kind}, {size} bytes), not kept")
    data, more, problem = decompressed(raw, encoding, limit, whole=not (cut or broken))
    if problem:
        return Incoming("", unusable=problem, broken=broken)
    return _as_text(data, kind, response.charset_encoding, Incoming("", broken=broken, cut=cut or more))


def _as_text(data: bytes, kind: str, charset: str | None, got: Incoming) -> Incoming:
    """Decode a body and add the notes on it. ``got``: how the transfer ended."""
    if data.lstrip(_SPACE)[:1] in (b"{", b"[") and written_deep(data.decode("latin-1")):
        return Incoming(
            "", unusable=f"the answer is nested deeper than {MAX_DEPTH} levels, not kept", broken=got.broken
        )
    is_json = _is_json(data)
    whole = not (got.cut or got.broken)
    if b"\0" in data[:1024] and not is_json and not (charset or "").lower().startswith(("utf-16", "utf-32")):
        text, told = decoded(data, charset, whole=whole) if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("", "")
        if not text:
            return Incoming("", unusable=f"binary response ({kind or 'no content type'}), not kept", broken=got.broken)
    else:
        text, told = decoded(data, charset, whole=whole)
    notes = [f"cut at {len(data)} bytes"] if got.cut else []
    if "json" in kind and data and whole and not is_json:
        notes.append(_NOT_JSON)
        if text.lstrip()[:1] in ("{", "[") and text.rstrip()[-1:] not in ("}", "]"):
            return Incoming(text, _NOT_JSON, ends_early=True)
    if is_json and kind and not _TEXTUAL.search(kind):
        notes.append(f"declared as {kind}, but is JSON")
    if kind.startswith("text/html") and not is_json:
        notes.append("an HTML page")
    return Incoming(text, "; ".join([*notes, *([told] if told else [])]), got.broken, cut=got.cut)


async def _bytes(response: httpx.Response, limit: int, *, first: bytes) -> tuple[bytes | None, bool, str]:
    """Return the first bytes as sent, whether there were more, and why the transfer broke off.

    ``first``: bytes of which the body must begin with one to be read at all (white space aside); otherwise None is returned in place
    of the bytes.
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


def decompressed(raw: bytes, encoding: str, limit: int, *, whole: bool) -> tuple[bytes, bool, str]:
    """Return the decompressed bytes of a body up to the limit, whether there were more, and why they cannot be read."""
    if encoding in ("", "identity"):
        return raw, False, ""
    if encoding not in ("gzip", "x-gzip", "deflate"):
        shown = encoding if encoding.isalpha() and len(encoding) < 9 else "something unknown"
        return b"", False, f"the response is compressed as {shown!r}, which was not asked for"
    for window in (
        (47, -15) if encoding == "deflate" else (47,)
    ):  # gzip or zlib, told by the header; deflate without one
        engine = zlib.decompressobj(wbits=window)
        try:
            data = engine.decompress(raw, limit)
        except zlib.error:
            continue
        if whole and raw and not engine.eof and not engine.unconsumed_tail:
            break
        return data, bool(engine.unconsumed_tail), ""
    return b"", False, f"the response is said to be compressed as {encoding}, and cannot be decompressed"


def _is_json(data: bytes) -> bool:
    try:
        orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        return False
    return True
