"""The text of a program as HTML: each line with its number, a sign and a word for its state, and what is told of it.

The text is a stranger's: every piece of it is escaped, and what would not be seen in it is written out.
"""

import builtins
import io
import keyword
import tokenize
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape

from ui.calls import SAID, SIGNS, CallState
from ui.language import say
from ui.program_lines import lines_of
from ui.texts import visible

_MOST = 600
"""Lines that are shown; of more, the others are counted."""
_WIDEST = 2_000
_STRINGS = (
    tokenize.STRING,
    *(
        getattr(tokenize, name)
        for name in ("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")
        if hasattr(tokenize, name)
    ),
)
_BUILT_IN = frozenset(dir(builtins)) - frozenset(keyword.kwlist)


def code_html(
    text: str,
    states: Mapping[int, CallState],
    notes: Mapping[int, str],
    called: Sequence[str] = (),
    name: str = "",
) -> str:
    """``states`` and ``notes`` by line, from 1. ``called``: names of functions that stand out. ``name``: what it is, for who cannot see it."""
    lines = _coloured(text, tuple(called))
    rows = [
        _row(number, line, states.get(number), notes.get(number, "")) for number, line in enumerate(lines[:_MOST], 1)
    ]
    if len(lines) > _MOST:
        rows.append(
            f"<li><span></span><span></span><code>{say('… {count} lines more', count=len(lines) - _MOST)}</code></li>"
        )
    named = escape(visible(name or say("The program")))
    return f'<div class="fp-code" tabindex="0" role="group" aria-label="{named}"><ol>{"".join(rows)}</ol></div>'


def _row(number: int, line: str, state: CallState | None, note: str) -> str:
    sign = "<span></span>"
    if state:
        said = escape(say(SAID[state]))
        sign = f'<span class="fp-sign" title="{said}"><span aria-hidden="true">{SIGNS[state]}</span><span class="fp-said">{said}</span></span>'
    told = f'<span class="fp-note">{escape(visible(note))}</span>' if note else ""
    return f'<li class="fp-{state or "plain"}"><span class="fp-number">{number}</span>{sign}<code dir="ltr">{line or " "}</code>{told}</li>'


@lru_cache(maxsize=256)
def _coloured(text: str, called: tuple[str, ...]) -> tuple[str, ...]:
    """Its lines as HTML; without colours where it cannot be read as Python."""
    plain = lines_of(text)
    kinds: list[list[tuple[int, int, str]]] = [[] for _ in plain]
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(plain) + "\n").readline):
            if kind := _kind(token, called):
                _mark(kinds, plain, token, kind)
    except (tokenize.TokenError, SyntaxError, ValueError):
        pass
    return tuple(_line(line, marks) for line, marks in zip(plain, kinds, strict=True))


def _kind(token: tokenize.TokenInfo, called: tuple[str, ...]) -> str:
    if token.type in _STRINGS:
        return "string"
    if token.type == tokenize.COMMENT:
        return "comment"
    if token.type == tokenize.NUMBER:
        return "number"
    if token.type != tokenize.NAME:
        return ""
    return (
        "keyword"
        if keyword.iskeyword(token.string)
        else "call"
        if token.string in called
        else "builtin"
        if token.string in _BUILT_IN
        else ""
    )


def _mark(kinds: list[list[tuple[int, int, str]]], plain: Sequence[str], token: tokenize.TokenInfo, kind: str) -> None:
    """A token may go over several lines."""
    (first, start), (last, end) = token.start, token.end
    for number in range(first, min(last, len(plain)) + 1):
        begin = start if number == first else 0
        stop = end if number == last else len(plain[number - 1])
        kinds[number - 1].append((begin, stop, kind))


def _line(line: str, marks: Sequence[tuple[int, int, str]]) -> str:
    pieces: list[str] = []
    at = 0
    for begin, end, kind in marks:
        if begin < at or begin >= _WIDEST:
            continue
        pieces += [
            escape(visible(line[at:begin])),
            f'<span class="fp-{kind}">{escape(visible(line[begin : min(end, _WIDEST)]))}</span>',
        ]
        at = end
    rest = line[at:_WIDEST] if at < _WIDEST else ""
    return "".join(pieces) + escape(visible(rest)) + (" …" if len(line) > _WIDEST else "")
