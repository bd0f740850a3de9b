"""Decoding of a response's bytes by its declared charset, or else by their form."""

import codecs

_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_NOT_OF_TEXT = frozenset(
    {"idna", "punycode", "unicode_escape", "raw_unicode_escape", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7", "mbcs", "oem"}
)  # fmt: skip
"""Codecs of Python that no server may choose: they take quadratic time, or interpret escapes."""


def decoded(data: bytes, charset: str | None, *, whole: bool) -> tuple[str, str]:
    """Return the text, and a note where the charset was guessed.

    ``whole`` False: the last character may be cut in two.
    """
    declared = _codec(charset)
    marked = next((codec for mark, codec in _MARKS if data.startswith(mark)), None)
    if marked or declared:
        return _replaced(data, marked or declared or ""), ""
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(data, final=whole), ""
    except UnicodeDecodeError:
        if charset:
            return _replaced(data, "utf-8"), ""
        return _replaced(data, "cp1252"), "not UTF-8, and no charset is declared: read as Windows-1252"


def _codec(charset: str | None) -> str | None:
    try:
        name = codecs.lookup(charset or "").name
    except (LookupError, ValueError):
        return None
    return None if name in _NOT_OF_TEXT else name


def _replaced(data: bytes, codec: str) -> str:
    try:
        return data.decode(codec, errors="replace")
    except (LookupError, ValueError):
        return data.decode("utf-8", errors="replace")
