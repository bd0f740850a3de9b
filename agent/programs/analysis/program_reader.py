"""Reading of a program's text within limits of size and depth, with a message if it is no program."""

import re
import tokenize
import unicodedata
from dataclasses import dataclass
from io import StringIO

from domain.source_text import SourceText, normalize, parse_source

MAX_LENGTH = 20_000
"""Longest text accepted, in characters. Programs that models write have a few hundred."""
_MAX_NODES = 6_000
_MAX_DEPTH = 60
_PLAIN_STRING = re.compile(r"[rRuUbB]*['\"]")
"""Beginning of a string literal that contains no names."""
_INVISIBLE = re.compile(r"[^\S\n ]|[\x00-\x09\x0b-\x1f\x7f\ufeff\u2028\u2029]")
_FSTRING_START = re.compile(r"(?<!\w)[fF][rR]?(\"(?!\"\")|'(?!''))|(?<!\w)[rR][fF](\"(?!\"\")|'(?!''))")
_OTHER_QUOTE = {'"': "'", "'": '"'}


@dataclass(frozen=True, slots=True)
class UnreadableProgram:
    """Reason why a text is no program, and the position of the error."""

    complaint: str
    """The reason, in a sentence."""
    line: int = 0
    """Line, from 1; 0 if unknown."""
    column: int = 0
    """Column in characters, from 1; 0 if unknown."""


def read_program_text(text: str, max_length: int = MAX_LENGTH) -> str | UnreadableProgram:
    """Return the text as it is to be run, or why it is no program.

    Line endings are unified, nested quotes in f-strings are replaced if Python 3.11 cannot parse them, and a text that
    two parsers might read differently is normalized. ``max_length``: limit in characters; the limit of nodes is
    proportional to it.
    """
    if len(text) > max_length:
        return UnreadableProgram(f"The program is longer than {max_length} characters: write a shorter one.")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    try:
        source = _parse_with_requoting(lines)
        if not source.is_within(_MAX_NODES * max_length // MAX_LENGTH, _MAX_DEPTH):
            return UnreadableProgram("The program is too large or too deeply nested: write it more simply.")
        if _is_ambiguous(source.text):
            source = parse_source(normalize(source.text))
    except SyntaxError as error:
        message = f"Line {error.lineno or 0} is no Python: {error.msg}{_format_line(error.text)}"
        return UnreadableProgram(message, error.lineno or 0, max(error.offset or 0, 0))
    except (ValueError, RecursionError, MemoryError, tokenize.TokenError):
        return UnreadableProgram("The program cannot be read: write it more simply.")
    if not source.statements:
        return UnreadableProgram("There is no program: write Python code.")
    return source.text


def _parse_with_requoting(text: str) -> SourceText:
    """Parse a text; if that fails, retry with other quotes inside f-strings."""
    try:
        return parse_source(text)
    except SyntaxError:
        requoted = _replace_nested_quotes(text)
        if requoted == text:
            raise
        return parse_source(requoted)


def _is_ambiguous(text: str) -> bool:
    """Return whether a text has invisible characters, or names that Python normalizes to others (NFKC).

    The sandbox has a parser of its own, which might read such a text differently.
    """
    if _INVISIBLE.search(text):
        return True
    return unicodedata.normalize("NFKC", text) != text and any(
        unicodedata.normalize("NFKC", token.string) != token.string
        for token in tokenize.generate_tokens(StringIO(text).readline)
        if token.type != tokenize.COMMENT and not (token.type == tokenize.STRING and _PLAIN_STRING.match(token.string))
    )


def _format_line(line: str | None) -> str:
    """Format the faulty line for a message."""
    return f": {line.strip()[:80]}" if line and line.strip() else "."


def _replace_nested_quotes(text: str) -> str:
    """Change inner quotes in f-strings that reuse the outer ones, as in ``f"{x["name"]}"``.

    Python allows this only since 3.12 (PEP 701), but models write it. Tried only for texts that do not parse.
    """
    parts: list[str] = []
    at = 0
    while start := _FSTRING_START.search(text, at):
        quote = start[1] or start[2]
        parts.append(text[at : start.end()])
        body, at = _read_string_body(text, start.end(), quote)
        parts.append(body)
    return "".join((*parts, text[at:]))


def _read_string_body(text: str, at: int, quote: str) -> tuple[str, int]:
    """Return the text from after an opening quote to the end of its string, and the position behind it."""
    parts: list[str] = []
    depth = 0
    while at < len(text) and text[at] != "\n":
        char = text[at]
        if char == "\\" and at + 1 < len(text):
            parts.append(text[at : at + 2])
            at += 2
        elif depth and char in _OTHER_QUOTE:
            inner = _read_inner_string(text, at)
            parts.append(_change_quotes(inner, quote))
            at += len(inner)
        elif char == quote:
            return "".join((*parts, char)), at + 1
        elif not depth and text[at : at + 2] in ("{{", "}}"):
            parts.append(text[at : at + 2])
            at += 2
        else:
            depth = max(depth + (char in "{[(") - (char in "}])"), 0) if depth or char == "{" else 0
            parts.append(char)
            at += 1
    return "".join(parts), at


def _read_inner_string(text: str, at: int) -> str:
    """Return the string literal inside braces that begins here."""
    end = at + 1
    while end < len(text) and text[end] not in (text[at], "\n"):
        end += 1 + (text[end] == "\\")
    return text[at : end + 1]


def _change_quotes(inner: str, quote: str) -> str:
    """Return a string literal with the other kind of quotes, if it uses ``quote`` and needs no escapes."""
    other = _OTHER_QUOTE[quote]
    if inner[0] != quote or inner[-1] != quote or other in inner or "\\" in inner or len(inner) == 1:
        return inner
    return other + inner[1:-1] + other
