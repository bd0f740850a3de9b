"""``f"{x["name"]}"`` as every Python reads it: since 3.12 an f-string may hold its own quotes in braces, and models write so."""

import re

_START = re.compile(r"(?<!\w)[fF][rR]?(\"(?!\"\")|'(?!''))|(?<!\w)[rR][fF](\"(?!\"\")|'(?!''))")
_OTHER = {'"': "'", "'": '"'}


def with_other_quotes(text: str) -> str:
    """The text with other quotes in the braces of its f-strings, where these hold the f-string's own. For a text that does not parse."""
    made: list[str] = []
    at = 0
    while start := _START.search(text, at):
        quote = start[1] or start[2]
        made.append(text[at : start.end()])
        body, at = _body(text, start.end(), quote)
        made.append(body)
    return "".join((*made, text[at:]))


def _body(text: str, at: int, quote: str) -> tuple[str, int]:
    """What follows an opening quote up to the end of its string, and where that is."""
    made: list[str] = []
    depth = 0
    while at < len(text) and text[at] != "\n":
        char = text[at]
        if char == "\\" and at + 1 < len(text):
            made.append(text[at : at + 2])
            at += 2
        elif depth and char in _OTHER:
            inner = _inner(text, at)
            made.append(_requoted(inner, quote))
            at += len(inner)
        elif char == quote:
            return "".join((*made, char)), at + 1
        elif not depth and text[at : at + 2] in ("{{", "}}"):
            made.append(text[at : at + 2])
            at += 2
        else:
            depth = max(depth + (char in "{[(") - (char in "}])"), 0) if depth or char == "{" else 0
            made.append(char)
            at += 1
    return "".join(made), at


def _inner(text: str, at: int) -> str:
    """A string within braces."""
    end = at + 1
    while end < len(text) and text[end] not in (text[at], "\n"):
        end += 1 + (text[end] == "\\")
    return text[at : end + 1]


def _requoted(inner: str, quote: str) -> str:
    other = _OTHER[quote]
    if inner[0] != quote or inner[-1] != quote or other in inner or "\\" in inner or len(inner) == 1:
        return inner
    return other + inner[1:-1] + other
