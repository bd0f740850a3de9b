"""Shortening of text that is not JSON: extraction of the text in HTML and XML, and a cut at a word."""

import re
from collections.abc import Iterator

_HTML = re.compile(r"<(?:!doctype\s+html|html|head|body|div|p|span|table|ul|h[1-6]|br)\b", re.IGNORECASE)
_MARKUP = re.compile(r"\s*<[?!a-zA-Z]")
_HIDDEN_ELEMENTS = ("script", "style", "svg", "noscript", "template")
"""Elements whose content is not displayed."""
_TAG = re.compile(r"<([^<>]{0,4000})>")
_NAMESPACE = re.compile(r""" (?:xmlns(?::\w+)?|xsi:\w+) ?= ?(?:"[^"]*"|'[^']*')""")
_SPACE = re.compile(r"\s+")
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&apos;": "'", "&nbsp;": " ", "&amp;": "&"}
_CUT_TOLERANCE = 80
"""Characters that may be given up to cut at the end of a line or word."""


def extract_text(text: str, max_chars: int) -> str:
    """Extract the text of an HTML page, ``name: value`` lines of XML, or plain text with its white space collapsed.

    The result stops soon after ``max_chars`` characters; the caller cuts it.
    """
    # A bound on the work: no page has so much markup that the first ``room`` characters of text lie beyond it.
    text = text[: max(400 * max_chars, 100_000)]
    if not _MARKUP.match(text):
        return _SPACE.sub(_collapse_space, text).strip()
    html = bool(_HTML.search(text[:4000]))
    lines: list[str] = []
    size = 0
    for line in _iterate_html_lines(text) if html else _iterate_xml_lines(text):
        lines.append(_unescape(line))
        size += len(line) + 1
        if size > 2 * max_chars:
            break
    return "\n".join(lines)


def cut_text(text: str, max_chars: int, original_length: int) -> str:
    """Cut a text to ``max_chars`` characters, at the end of a line or word if one is near, with a note of the cut.

    ``original_length``: the length of the original, for the note.
    """
    if len(text) <= max_chars:
        return text
    mark = f" … (cut; {original_length:,} characters in all)"
    head = text[: max(0, max_chars - len(mark))]
    for end in ("\n", " "):
        place = head.rfind(end)
        if place >= len(head) - _CUT_TOLERANCE:
            head = head[:place]
            break
    return head.rstrip() + mark[: max_chars - len(head.rstrip())]


def _collapse_space(match: re.Match[str]) -> str:
    return "\n" if "\n" in match[0] else " "


def _iterate_html_lines(text: str) -> Iterator[str]:
    for line in _TAG.sub("\n", _remove_hidden_elements(text)).split("\n"):
        plain = " ".join(line.split())
        if plain:
            yield plain


def _iterate_xml_lines(text: str) -> Iterator[str]:
    """Yield a line for each element with text of its own or with attributes: ``Rate currency="USD": 1.1``."""
    text = _remove_comments(text)
    previous: tuple[str, int] | None = None
    for tag in _TAG.finditer(text):
        if previous:
            inner = " ".join(text[previous[1] : tag.start()].replace("<![CDATA[", "").replace("]]>", "").split())
            if inner or "=" in previous[0]:
                yield f"{previous[0]}: {inner}" if inner else previous[0]
        opens = not tag[1].startswith(("/", "?", "!"))
        previous = (_NAMESPACE.sub("", " ".join(tag[1].split())).rstrip("/ "), tag.end()) if opens else None
    if previous and "=" in previous[0]:
        yield previous[0]


def _remove_hidden_elements(text: str) -> str:
    """Remove comments and elements that are not displayed."""
    text = _remove_comments(text)
    for name in _HIDDEN_ELEMENTS:
        text = _remove_between(text, f"<{name}", f"</{name}")
    return text


def _remove_comments(text: str) -> str:
    return _remove_between(text, "<!--", "-->")


def _remove_between(text: str, opens: str, closes: str) -> str:
    """Remove everything from each ``opens`` to the tag end after ``closes``; an unclosed one removes the rest.

    Every search goes forward, so the time is linear, unlike a regular expression's on unclosed elements.
    """
    # ``lower`` changes the length of some non-ASCII texts, which would shift the positions.
    lowered = text.lower() if text.lower().isascii() else text
    parts: list[str] = []
    place = 0
    while (start := lowered.find(opens, place)) >= 0:
        parts.append(text[place:start])
        end = lowered.find(closes, start)
        if end < 0:
            return "".join(parts)
        end = lowered.find(">", end)
        if end < 0:
            return "".join(parts)
        place = end + 1
    parts.append(text[place:])
    return "".join(parts)


def _unescape(line: str) -> str:
    for entity, character in _ENTITIES.items():
        line = line.replace(entity, character)
    return line


def replace_surrogates(text: str) -> str:
    """Replace halves of surrogate pairs, which cannot be encoded, by question marks."""
    return text.encode("utf-8", "replace").decode()
