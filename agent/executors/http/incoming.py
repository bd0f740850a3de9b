"""An HTTP response to text: read up to a cap, decoded, with a note of what a reader must know."""

import re
import zlib
from dataclasses import dataclass

import httpx
import orjson

_TEXTUAL = re.compile(r"text/|[/+](json|xml|javascript|yaml|csv|x-www-form-urlencoded|x-ndjson|graphql)\b")


@dataclass(frozen=True, slots=True)
class Incoming:
    """``text`` is the body; ``broken`` says why it is not whole though the server meant to send more."""

    text: str
    note: str = ""
    broken: str = ""


async def read(response: httpx.Response, limit: int) -> Incoming:
    """Read at most ``limit`` bytes of a streamed response; the rest is never asked for."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind and not _TEXTUAL.search(kind):
        size = response.headers.get("content-length", "unknown number of")
        return Incoming("", f"binary response ({kind}, {size} bytes), not kept")
    raw, cut, broken = await _bytes(response, limit)
    encoding = response.headers.get("content-encoding", "").strip().lower()
    data, problem = _decompressed(raw, encoding, limit)
    if problem is None:
        return Incoming("", f"the response is compressed as {encoding!r}, which was not asked for", broken)
    if b"\0" in data[:1024] and not kind:
        return Incoming("", "binary response without a content type, not kept", broken)
    text = _text(data, response.charset_encoding)
    notes = [f"cut at {limit} bytes"] if cut or problem else []
    if "json" in kind and data and not cut and not problem and not broken and not _is_json(data):
        notes.append("declared as JSON, but is not")
    if kind.startswith("text/html"):
        notes.append("an HTML page")
    return Incoming(text, "; ".join(notes), broken)


async def _bytes(response: httpx.Response, limit: int) -> tuple[bytes, bool, str]:
    """The first bytes as sent, whether more were coming, and what broke off the transfer."""
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in response.aiter_raw():
            chunks.append(chunk[: limit - size])
            size += len(chunk)
            if size > limit:
                return b"".join(chunks), True, ""
    except (httpx.RemoteProtocolError, httpx.ReadError) as error:
        return b"".join(chunks), False, f"the response broke off after {size} bytes ({error or type(error).__name__})"
    return b"".join(chunks), False, ""


def _decompressed(raw: bytes, encoding: str, limit: int) -> tuple[bytes, bool | None]:
    """The plain bytes up to the limit and whether there were more; None where the encoding is not known."""
    if encoding in ("", "identity"):
        return raw, False
    if encoding not in ("gzip", "x-gzip", "deflate"):
        return b"", None
    engine = zlib.decompressobj(wbits=47)  # gzip or zlib, told by the header
    try:
        data = engine.decompress(raw, limit)
    except zlib.error:
        return b"", None
    return data, bool(engine.unconsumed_tail)


def _text(data: bytes, charset: str | None) -> str:
    try:
        return data.decode(charset or "utf-8", errors="replace")
    except LookupError:
        return data.decode("utf-8", errors="replace")


def _is_json(data: bytes) -> bool:
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError:
        return False
    return True
