"""Extract the program from a model's reply: from a code block, JSON, a tool call, or the bare text."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, cast

from agent.llm.client.chat import ModelReply
from agent.programs.program_types import WrittenProgram
from agent.programs.sandbox_cell import LOOK
from agent.text import clean_text
from domain.python_source import parse_literal
from domain.source_text import parse_source, try_parse_source

MAX_PROGRAM_CHARS = 16_000
"""Characters of a program."""

_MAX_REASON_CHARS = 300
_MAX_STARTS = 20
"""Braces and brackets of a text at which JSON is tried, as each attempt may read to the end."""
_MAX_DEPTH = 5
"""Levels of JSON in which a program is sought."""
_PROGRAM_KEYS = ("program", "code", "python", "source", "script", "input")
"""Keys under which models put a program."""
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_UNOPENED_THOUGHTS = re.compile(r"\A.*?</think(?:ing)?>", re.DOTALL)
"""Thoughts whose opening tag was part of the model's template."""
_BLOCK = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+.-]*)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_PYTHON_LANGUAGES = frozenset({"", "python", "python3", "py", "py3", "ipython", "tool_code"})
"""Languages of code blocks that are read as Python; most models give none or one of these."""
_PLAIN_LANGUAGES = frozenset({"text", "txt", "plaintext"})
"""Languages of blocks that may hold a program all the same."""
_ONE_LINE_BLOCK = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[ \t]*(?:(python3?|py3?|ipython|tool_code|json|text|txt|plaintext)[ \t]+)?([^\s`~][^\n`~]*)\1[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
"""A block whose marks are not on lines of their own."""
_CODE_MARK = re.compile(r"\bawait\s+[\w.]+\s*\(|^[ \t]*[A-Za-z_]\w*[ \t]*=[^=]", re.MULTILINE)
"""A call or an assignment; braces behind it belong to a program."""


def extract_program(reply: ModelReply) -> WrittenProgram:
    """Extract the program from a reply.

    Text that does not parse counts if it was marked as code: later checks find what is wrong with it.
    """
    if reply.cut:
        return WrittenProgram("", "the reply was cut off: it is longer than FOOTPATH_MODEL_MAX_TOKENS allows")
    reply_text = _THOUGHTS.sub(
        "", _UNOPENED_THOUGHTS.sub("", reply.text) if "<think" not in reply.text else reply.text
    ).strip()
    text = (
        _extract_from_json(reply.tool_calls)
        or _extract_from_blocks(reply_text)
        or _select_program(reply_text)
        or _extract_from_json(reply_text)
        or _select_any_program(reply_text)
    )
    if len(text) > MAX_PROGRAM_CHARS:
        return WrittenProgram("", f"the program is longer than {MAX_PROGRAM_CHARS:,} characters")
    return (
        WrittenProgram(text)
        if text
        else WrittenProgram("", clean_text(reply_text, _MAX_REASON_CHARS) or "the model said nothing")
    )


def _extract_from_blocks(source_text: str) -> str:
    """Return the last block that is a program, together with earlier blocks whose names it uses.

    If no block is a program, the last one marked as Python is returned. A block that holds only values counts if there
    is no other: behind a program, it is the result that its author expects. Code that does not parse counts like a
    program; neither a part of it nor a block before it is taken in its place.
    """
    blocks = [
        (match[2].lower(), match[3].strip("\n"))
        for match in _BLOCK.finditer(_ONE_LINE_BLOCK.sub(r"\1\2\n\3\n\1", source_text))
    ]
    candidates = [(language, _dedent(text)) for language, text in blocks if _may_be_program(language, text)]
    texts = [
        _select_program(text) or _extract_from_json_block(language, text) or ("" if language == "json" else text)
        for language, text in candidates
    ]
    programs = [text for text in texts if _is_program(text) or _is_broken(text)]
    code = [text for text in programs if not _is_value(text)] or programs
    if code:
        return (
            code[-1] if _is_broken(code[-1]) else _prepend_dependencies([text for text in code if not _is_broken(text)])
        )
    return next(
        (_dedent(text) for language, text in reversed(blocks) if language in _PYTHON_LANGUAGES and text.strip()), ""
    )


def _may_be_program(language: str, text: str) -> bool:
    """Check if a block may be a program: code, JSON, or plain text that calls something."""
    return language in _PYTHON_LANGUAGES or language == "json" or (language in _PLAIN_LANGUAGES and "await " in text)


def _extract_from_json_block(language: str, text: str) -> str:
    """Return the program in a block that is marked as JSON, or is JSON from its first character on."""
    return _extract_from_json(text) if language == "json" or text.startswith(("{", "[")) else ""


def _is_broken(text: str) -> bool:
    """Check if a text is code with calls that does not parse."""
    return bool(_CODE_MARK.search(text)) and "await " in text and try_parse_source(text) is None


def _dedent(text: str) -> str:
    """Remove the common indentation of a block, such as one that stood in a list."""
    lines = text.splitlines()
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[indent:] for line in lines).strip()


def _prepend_dependencies(programs: Sequence[str]) -> str:
    """Return the last text, preceded by the earlier ones that bind names which it needs."""
    last = programs[-1]
    loaded, bound = _find_names(last)
    for index in range(len(programs) - 2, -1, -1):
        earlier_names = _find_names(programs[index])[1]
        if (loaded - bound) & earlier_names:
            return _prepend_dependencies([*programs[:index], f"{programs[index]}\n{last}"])
    return last


def _find_names(text: str) -> tuple[set[str], set[str]]:
    """Return the names that a program reads, and those that it binds."""
    source = parse_source(text)
    return {*source.read_counts}, {*source.assignment_counts}


def _extract_from_json(source_text: str) -> str:
    """Return the program under one of the usual keys of a JSON object in a text.

    An object that is an answer is a program by itself. JSON behind code belongs to that code.
    """
    starts = islice((position for position, char in enumerate(source_text) if char in "{["), _MAX_STARTS)
    for start in starts:
        if _CODE_MARK.search(source_text, 0, start):
            break
        try:
            value, _ = json.JSONDecoder(strict=False).raw_decode(source_text, start)
        except (ValueError, RecursionError):
            continue
        text = next(_iterate_programs(value, 0), "")
        if text:
            return text.strip()
        if isinstance(value, dict) and "answered" in value:
            return repr(cast("dict[str, Any]", value))
    return ""


def _iterate_programs(value: Any, depth: int) -> Iterator[str]:
    """Yield the programs inside a JSON value, outermost first."""
    if depth > _MAX_DEPTH:
        return
    match value:
        case dict():
            mapping = cast("dict[str, Any]", value)
            yield from (
                _unwrap_block(mapping[key])
                for key in _PROGRAM_KEYS
                if isinstance(mapping.get(key), str) and mapping[key].strip()
            )
            for inner in mapping.values():
                yield from _iterate_programs(inner, depth + 1)
        case list():
            for inner in cast("list[Any]", value):
                yield from _iterate_programs(inner, depth + 1)
        case str() if depth and value.lstrip().startswith("{"):
            yield from filter(None, [_extract_from_json(value)])
        case str() if depth and "await " in value and _is_program(value):
            yield value
        case _:
            return


def _unwrap_block(text: str) -> str:
    """Return the block inside a program from JSON, if it is in one, else the program."""
    return _extract_from_blocks(text) or text


def _select_program(text: str) -> str:
    """Return a text that is a program and more than a value: braces inside it are its own."""
    return text if _is_program(text) and not _is_value(text) else ""


def _select_any_program(text: str) -> str:
    return text if _is_program(text) else ""


def _is_program(text: str) -> bool:
    """Check if a text is Python that does something; single words and prose may parse as well."""
    source = try_parse_source(text)
    if source is None:
        return False
    acts = source.node_types & {"Await", "Assign", "JoinedStr"} or "answered" in source.dict_keys
    return bool(acts) or any(call.name == LOOK for call in source.calls)


def _is_value(text: str) -> bool:
    """Check if a text is nothing but a value, in Python's or JSON's notation."""
    for parse in (parse_literal, json.loads):
        try:
            parse(text)
        except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
            continue
        return True
    return False
