"""Signs that a text gives orders to its reader instead of describing a tool (prompt injection), found by form.

A model that chooses among tools reads what a tool's document says. None of these signs proves anything; each is reported with the
text where it was found.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_MARKS = frozenset("\u200e\u200f\u061c")
_JOINERS = frozenset("\u200c\u200d")
_SOFT_HYPHEN = "\u00ad"
_FLAG = "\U0001f3f4"
_ROLE = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|\[/?INST\]|<</?SYS>>|</s>"
    r"|(?:^|\n|[.!?]\s)\s*(?:#{1,6}\s*)?(?:system|user|human)\s*:[^\n]{1,400}?[\n.!?]\s*(?:assistant|ai)\s*:\s*(?=\S)"
    r"|(?:^|\n|[.!?]\s)\s*#{1,6}\s*(?:system|assistant|instructions?)\s*:\s*(?=\S)"
    r"|</?(?:system|assistant|developer|human|user|instructions?|tool_?calls?|function_?calls?|invoke|thinking)\b[^<>]{0,80}>",
    re.IGNORECASE,
)
"""Turn markers in model transcripts."""
_TURN = re.compile(r"(?:^|\n|[.!?]\s)\s*(?:system|assistant)\s*:\s*(?=\S)", re.IGNORECASE)
_TAG = re.compile(r"<\s*([A-Za-z][\w:-]{0,40})(?:\s[^<>]{0,300})?>")
_HTML = frozenset(
    [
        "a",
        "abbr",
        "b",
        "blockquote",
        "br",
        "code",
        "dd",
        "del",
        "details",
        "div",
        "dl",
        "dt",
        "em",
        "figure",
        "font",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "i",
        "img",
        "ins",
        "kbd",
        "li",
        "mark",
        "ol",
        "p",
        "pre",
        "q",
        "s",
        "samp",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "summary",
        "sup",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "tt",
        "u",
        "ul",
        "var",
        "video",
    ]
)
_COMMENT = re.compile(r"<!--.*?(?:-->|$)|^\[//\]:\s*#|\[comment\]:\s*#", re.DOTALL | re.MULTILINE)
_IMAGE = re.compile(r"!\[[^\]\n]{0,200}\]\(\s*(?:https?:)?//|<img\b", re.IGNORECASE)
_SCRIPT = re.compile(
    r"<\s*(?:script|iframe|object|embed|svg|style|form)\b|\bjavascript:|\bdata:[\w/+.-]+;base64,", re.IGNORECASE
)
_BLOB = re.compile(
    r"(?<![\w/+.-])(?=[\w/+-]*\d)(?=[\w/+-]*[a-z])(?=[\w/+-]*[A-Z])[A-Za-z0-9+/_-]{120,}={0,2}(?![\w/+-])"
)
_PRIVATE = re.compile(
    r"(?:~|\$HOME|%USERPROFILE%|/root|/home/\w+|/Users/\w+)/\.[\w.-]+|/etc/(?:passwd|shadow|hosts)|/proc/(?:self|\d+)/|\bid_(?:rsa|ed25519)\b"
    r"|(?<![\w./])\.env\b|\bFOOTPATH_[A-Z_]+|\bAWS_SECRET_ACCESS_KEY\b"
)
"""Files and variables of the reading machine, which an API's document has no reason to mention."""
_OVERRIDE = re.compile(
    r"\b(?:ignor\w*|disregard\w*|forget|override|bypass|oubli\w*|vergiss|vergessen|olvid\w*|esquec\w*|dimentica\w*|omit\w*)\b"
    r"[^.!?\n]{0,60}\b(?:instruct\w*|prompts?|anweisung\w*|instruccion\w*|instru[çc][õo]\w*|istruzion\w*|consignes?|rules|regeln|guidelines)\b"
    r"|(?:忽略|无视|無視|忘记|忘れ)[^。！？\n]{0,20}(?:指示|指令|提示|规则|命令)"
    r"|(?:игнорир\w*|забудь\w*)[^.!?\n]{0,40}(?:инструкц\w*|указани\w*|правил\w*)",
    re.IGNORECASE,
)
"""The one order with hardly any legitimate use, in the languages in which it is seen."""


class InjectionSign(NamedTuple):
    """Sign found in a text."""

    kind: str
    """In a few words."""
    excerpt: str
    """The text around it, with invisible characters made visible."""
    grave: bool
    """It has hardly any honest use."""
    addresses_model: bool = False
    """It is worded for a model."""


def find_signs(text: str) -> list[InjectionSign]:
    """Return the signs in a text, each kind once, the serious ones first."""
    signs = [*_find_hidden(text), *_find_patterns(text)]
    first: dict[str, InjectionSign] = {}
    for sign in signs:
        first.setdefault(sign.kind, sign)
    return sorted(first.values(), key=lambda sign: not sign.grave)


def _find_patterns(text: str) -> Iterator[InjectionSign]:
    for kind, pattern, grave in (
        ("turns of a conversation with a model", _ROLE, True),
        ("an order to leave earlier orders aside", _OVERRIDE, True),
        ("a comment that a page does not show", _COMMENT, True),
        ("a script, or data in place of an address", _SCRIPT, True),
        ("files or variables of the machine that reads it", _PRIVATE, True),
        ("what may be a turn of a conversation", _TURN, False),
        ("a picture that is fetched from elsewhere", _IMAGE, False),
        ("a long piece of encoded data", _BLOB, False),
    ):
        if hit := pattern.search(text):
            yield InjectionSign(kind, _cut_excerpt(text, hit.start(), hit.end()), grave, pattern in (_ROLE, _OVERRIDE))
    for hit in _TAG.finditer(text):
        name = hit[1].lower()
        closed = re.search(rf"</\s*{re.escape(name)}\s*>", text[hit.end() :], re.IGNORECASE)
        if name not in _HTML and closed and len(text[hit.end() :][: closed.start()].split()) > 3:
            yield InjectionSign(
                "a part that is set apart by tags", _cut_excerpt(text, hit.start(), hit.end()), grave=True
            )


def _find_hidden(text: str) -> Iterator[InjectionSign]:
    for position, character in enumerate(text):
        kind = _classify_unseen(text, position, character)
        if kind:
            yield InjectionSign(
                kind, _cut_excerpt(text, position, position + 1), grave=kind != "soft hyphens or private characters"
            )


def _classify_unseen(text: str, position: int, character: str) -> str:
    """Return the kind of an invisible character; empty if it is visible or belongs where it is."""
    category = unicodedata.category(character)
    before = text[position - 1] if position else ""
    after = text[position + 1] if position + 1 < len(text) else ""
    if character in _BIDI:
        return "characters that turn the order of text around"
    if 0xE0000 <= ord(character) <= 0xE007F:
        return "" if _FLAG in text[max(0, position - 8) : position] else "characters that nobody sees"
    if (
        0xE0100 <= ord(character) <= 0xE01EF or 0xFE00 <= ord(character) <= 0xFE0F
    ):  # variation selectors: they change how the character before is drawn
        follows = before and unicodedata.category(before) not in ("Mn", "Cf", "Zs") and not before.isascii()
        return (
            ""
            if follows or (before and before in "#*0123456789" and ord(character) == 0xFE0F)
            else "characters that nobody sees"
        )
    if character in _JOINERS:  # they shape the letters of many scripts, and join emoji
        return (
            "" if before and after and not before.isascii() and not after.isascii() else "characters that nobody sees"
        )
    if character in _MARKS:
        return (
            ""
            if any(unicodedata.bidirectional(other) in ("R", "AL") for other in text)
            else "characters that nobody sees"
        )
    if character == _SOFT_HYPHEN or category == "Co":
        return "soft hyphens or private characters"
    if (
        category in ("Cf", "Cs", "Cn")
        or (category == "Cc" and character not in "\t\n\r")
        or character in "\u115f\u1160\u3164\uffa0\u2800"
    ):
        return "characters that nobody sees"
    return ""


def make_visible(text: str) -> str:
    """Return a text with its invisible characters written as their code points."""
    return "".join(
        f"<U+{ord(character):04X}>"
        if (not character.isprintable() and not character.isspace()) or _classify_unseen(text, position, character)
        else character
        for position, character in enumerate(text)
    )


def _cut_excerpt(text: str, start: int, end: int) -> str:
    cut = text[max(0, start - 30) : min(len(text), end + 50)]
    return make_visible(cut)
