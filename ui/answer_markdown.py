"""What a model writes in Markdown, read as plain text: tables, lines of a list, and signs that only make something bold or a heading."""

import re
from collections.abc import Sequence

_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r":?-+:?")
_HEADING = re.compile(r"#{1,6}\s+(\S.*?)(?:\s+#+)?")
_BOLD = re.compile(r"(?<![\w*])\*\*(?=[^\s*])([^*]{1,300})(?<=[^\s*])\*\*(?![\w*])")
_BULLET = re.compile(r"[-*•]\s+(?=\S)")


def plain_line(line: str) -> str:
    """A line without the signs of a heading and of what is bold; all else as it is."""
    heading = _HEADING.fullmatch(line)
    return _BOLD.sub(r"\1", heading[1] if heading else line)


def bullet(line: str) -> str:
    """What a line of a list says; empty where it is none."""
    found = _BULLET.match(line)
    return line[found.end() :] if found else ""


def table_lines(lines: Sequence[str]) -> tuple[tuple[str, ...], list[tuple[str, ...]]] | None:
    """The heads and rows of the table that the first lines are: each row a line, after the heads and the rule below them.

    A row that lacks cells is filled up; of one that has too many, the last cell holds the rest.
    """
    if len(lines) < 3 or "|" not in lines[0]:
        return None
    heads, rule = _cells(lines[0]), _cells(lines[1])
    if "|" not in lines[1] or len(heads) != len(rule) or not all(_RULE.fullmatch(one) for one in rule):
        return None
    rows: list[tuple[str, ...]] = []
    for line in lines[2:]:
        if not _BAR.search(line):
            break
        cells = _cells(line)
        last = " | ".join(cells[len(heads) - 1 :])
        rows.append((*cells[: len(heads) - 1], last, *[""] * (len(heads) - len(cells)))[: len(heads)])
    return (tuple(heads), rows) if rows else None


def _cells(line: str) -> list[str]:
    bare = line.strip().removeprefix("|")
    bare = bare[:-1] if bare.endswith("|") and not bare.endswith("\\|") else bare
    return [one.strip().replace("\\|", "|") for one in _BAR.split(bare)]
