"""Text that is no JSON, made short: markup to the text in it, then a cut at a word."""

import re
from collections.abc import Iterator

_HTML = re.compile(r"<(?:!doctype\s+html|html|head|body|div|p|span|table|ul|h[1-6]|br)\b", re.IGNORECASE)
_MARKUP = re.compile(r"\s*<[?!a-zA-Z]")
_UNSEEN = ("script", "style", "svg", "noscript", "template")
_TAG = re.compile(r"<([^<>]{0,4000})>")
_NAMESPACE = re.compile(r""" (?:xmlns(?::\w+)?|xsi:\w+) ?= ?(?:"[^"]*"|'[^']*')""")
_SPACE = re.compile(r"\s+")
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&apos;": "'", "&nbsp;": " ", "&amp;": "&"}
_NEAR = 80


def readable(text: str, room: int) -> str:
    """The text of a page, ``name: value`` lines of XML, other text as it is; little more than ``room`` characters of it."""
    text = text[: max(400 * room, 100_000)]
    if not _MARKUP.match(text):
        return _SPACE.sub(_one_space, text).strip()
    html = bool(_HTML.search(text[:4000]))
    lines: list[str] = []
    size = 0
    for line in _html_lines(text) if html else _xml_lines(text):
        lines.append(_unescaped(line))
        size += len(line) + 1
        if size > 2 * room:
            break
    return "\n".join(lines)


def cut_text(text: str, room: int, whole: int) -> str:
    """At most ``room`` characters, cut at a line's or word's end where one is near; the cut is said, with ``whole`` as size."""
    if len(text) <= room:
        return text
    mark = f" … (cut; {whole:,} characters in all)"
    kept = text[: max(0, room - len(mark))]
    for end in ("\n", " "):
        place = kept.rfind(end)
        if place >= len(kept) - _NEAR:
            kept = kept[:place]
            break
    return kept.rstrip() + mark[: room - len(kept.rstrip())]


def _one_space(found: re.Match[str]) -> str:
    return "\n" if "\n" in found[0] else " "


def _html_lines(text: str) -> Iterator[str]:
    for line in _TAG.sub("\n", _without_unseen(text)).split("\n"):
        plain = " ".join(line.split())
        if plain:
            yield plain


def _xml_lines(text: str) -> Iterator[str]:
    """A line for each element that has text of its own or attributes: ``Rate currency="USD": 1.1``."""
    text = _without_comments(text)
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


def _without_unseen(text: str) -> str:
    """A page without what nobody sees. Every search goes forward, so the time is linear whatever is left open."""
    text = _without_comments(text)
    for name in _UNSEEN:
        text = _without(text, f"<{name}", f"</{name}")
    return text


def _without_comments(text: str) -> str:
    return _without(text, "<!--", "-->")


def _without(text: str, opens: str, closes: str) -> str:
    folded = text.lower() if text.lower().isascii() else text
    kept: list[str] = []
    place = 0
    while (start := folded.find(opens, place)) >= 0:
        kept.append(text[place:start])
        end = folded.find(closes, start)
        if end < 0:
            return "".join(kept)
        end = folded.find(">", end)
        if end < 0:
            return "".join(kept)
        place = end + 1
    kept.append(text[place:])
    return "".join(kept)


def _unescaped(line: str) -> str:
    for entity, character in _ENTITIES.items():
        line = line.replace(entity, character)
    return line


def sound(text: str) -> str:
    """Without halves of surrogate pairs, which no encoding takes."""
    return text.encode("utf-8", "replace").decode()
