"""Extract the program from a model's reply: from a code block, JSON, a tool call, or the bare text."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, cast

from agent.llm.client.chat import Reply
from agent.programs.protocol import WrittenProgram
from agent.programs.stops import LOOK
from agent.text import clean
from domain.python_source import parse_literal
from domain.source_text import parse_source, try_parse_source

LONGEST = 16_000
"""Characters of a program."""

_SAID = 300
_MOST_STARTS = 20
_DEEPEST = 5
_KEYS = ("program", "code", "python", "source", "script", "input")
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_UNOPENED = re.compile(r"\A.*?</think(?:ing)?>", re.DOTALL)
"""Thoughts whose opening tag was part of the model's template."""
_BLOCK = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+.-]*)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_PYTHON = frozenset({"", "python", "python3", "py", "py3", "ipython", "tool_code"})
_PLAIN = frozenset({"text", "txt", "plaintext"})
_ONE_LINE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[ \t]*(?:(python3?|py3?|ipython|tool_code|json|text|txt|plaintext)[ \t]+)?([^\s`~][^\n`~]*)\1[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
"""A block whose marks are not on lines of their own."""
_CODE = re.compile(r"\bawait\s+[\w.]+\s*\(|^[ \t]*[A-Za-z_]\w*[ \t]*=[^=]", re.MULTILINE)
"""A call or an assignment; braces behind it belong to a program."""


def program_of(reply: Reply) -> WrittenProgram:
    """Extract the program from a reply.

    Text that does not parse counts if it was marked as code: later checks find what is wrong with it.
    """
    if reply.cut:
        return WrittenProgram("", "the reply was cut off: it is longer than FOOTPATH_MODEL_MAX_TOKENS allows")
    said = _THOUGHTS.sub("", _UNOPENED.sub("", reply.text) if "<think" not in reply.text else reply.text).strip()
    text = _in_json(reply.called) or _in_blocks(said) or _whole(said) or _in_json(said) or _bare(said)
    if len(text) > LONGEST:
        return WrittenProgram("", f"the program is longer than {LONGEST:,} characters")
    return WrittenProgram(text) if text else WrittenProgram("", clean(said, _SAID) or "the model said nothing")


def _in_blocks(said: str) -> str:
    """Return the last block that is a program, together with earlier blocks whose names it uses.

    If no block is a program, the last one marked as Python is returned. A block that holds only values counts if there is
    no other: behind a program, it is the result that its author expects. Code that does not parse counts like a program;
    neither a part of it nor a block before it is taken in its place.
    """
    blocks = [
        (match[2].lower(), match[3].strip("\n")) for match in _BLOCK.finditer(_ONE_LINE.sub(r"\1\2\n\3\n\1", said))
    ]
    kept = [(language, _dedented(text)) for language, text in blocks if _may_hold(language, text)]
    texts = [_whole(text) or _data(language, text) or ("" if language == "json" else text) for language, text in kept]
    programs = [text for text in texts if _is_program(text) or _is_broken(text)]
    code = [text for text in programs if not _is_value(text)] or programs
    if code:
        return code[-1] if _is_broken(code[-1]) else _with_what_it_uses([one for one in code if not _is_broken(one)])
    return next((_dedented(text) for language, text in reversed(blocks) if language in _PYTHON and text.strip()), "")


def _may_hold(language: str, text: str) -> bool:
    """Check if a block may be a program: code, JSON, or plain text that calls something."""
    return language in _PYTHON or language == "json" or (language in _PLAIN and "await " in text)


def _data(language: str, text: str) -> str:
    """Return the program in a block that is marked as JSON, or is JSON from its first character on."""
    return _in_json(text) if language == "json" or text.startswith(("{", "[")) else ""


def _is_broken(text: str) -> bool:
    """Check if a text is code with calls that does not parse."""
    return bool(_CODE.search(text)) and "await " in text and try_parse_source(text) is None


def _dedented(text: str) -> str:
    """Remove the common indentation of a block, such as one that stood in a list."""
    lines = text.splitlines()
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[indent:] for line in lines).strip()


def _with_what_it_uses(programs: Sequence[str]) -> str:
    """Return the last text, preceded by the earlier ones that bind names which it needs."""
    last = programs[-1]
    loaded, bound = _names(last)
    for at in range(len(programs) - 2, -1, -1):
        earlier = _names(programs[at])[1]
        if (loaded - bound) & earlier:
            return _with_what_it_uses([*programs[:at], f"{programs[at]}\n{last}"])
    return last


def _names(text: str) -> tuple[set[str], set[str]]:
    """Return the names that a program reads, and those that it binds."""
    source = parse_source(text)
    return {*source.names_read}, {*source.names_set}


def _in_json(said: str) -> str:
    """Return the program under one of the usual keys of a JSON object in a text.

    An object that is an answer is a program by itself. JSON behind code belongs to that code.
    """
    starts = islice((at for at, char in enumerate(said) if char in "{["), _MOST_STARTS)
    for start in starts:
        if _CODE.search(said, 0, start):
            break
        try:
            found, _ = json.JSONDecoder(strict=False).raw_decode(said, start)
        except (ValueError, RecursionError):
            continue
        text = next(_held(found, 0), "")
        if text:
            return text.strip()
        if isinstance(found, dict) and "answered" in found:
            return repr(cast("dict[str, Any]", found))
    return ""


def _held(value: Any, depth: int) -> Iterator[str]:
    """Yield the programs inside a JSON value, outermost first."""
    if depth > _DEEPEST:
        return
    match value:
        case dict():
            held = cast("dict[str, Any]", value)
            yield from (_unwrapped(held[key]) for key in _KEYS if isinstance(held.get(key), str) and held[key].strip())
            for inner in held.values():
                yield from _held(inner, depth + 1)
        case list():
            for inner in cast("list[Any]", value):
                yield from _held(inner, depth + 1)
        case str() if depth and value.lstrip().startswith("{"):
            yield from filter(None, [_in_json(value)])
        case str() if depth and "await " in value and _is_program(value):
            yield value
        case _:
            return


def _unwrapped(text: str) -> str:
    """Return the block inside a program from JSON, if it is in one, else the program."""
    return _in_blocks(text) or text


def _whole(said: str) -> str:
    """Return a text that is a program and more than a value: braces inside it are its own."""
    return said if _is_program(said) and not _is_value(said) else ""


def _bare(said: str) -> str:
    return said if _is_program(said) else ""


def _is_program(text: str) -> bool:
    """Check if a text is Python that does something; single words and prose may parse as well."""
    source = try_parse_source(text)
    if source is None:
        return False
    acts = source.kinds & {"Await", "Assign", "JoinedStr"} or "answered" in source.keys
    return bool(acts) or any(call.name == LOOK for call in source.calls)


def _is_value(text: str) -> bool:
    """Check if a text is nothing but a value, in Python's or JSON's notation."""
    for read in (parse_literal, json.loads):
        try:
            read(text)
        except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
            continue
        return True
    return False
