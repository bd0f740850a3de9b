"""Broken files: told with file and line, before anything is written."""

from collections.abc import Callable
from pathlib import Path

import pytest

from domain.errors import BrokenInputError, UsageError
from graph.backends.in_memory import InMemoryGraph
from graph.facts import GraphStatistics
from tests.support.small_stores import imported, run_changed, sample

Lines = list[bytes]
Change = Callable[[Lines], Lines]


async def refused(path: Path) -> str:
    graph = InMemoryGraph()
    with pytest.raises(BrokenInputError) as caught:
        await imported(path, graph)
    assert await graph.compute_statistics() == GraphStatistics(0, 0, 0, 0, 0, 0)
    return str(caught.value)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("name", ["e.jsonl", "e.jsonl.gz"])
async def test_a_file_cut_off_anywhere(tmp_path: Path, name: str, share: float) -> None:
    path = await sample(tmp_path / name)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    assert await refused(path)


@pytest.mark.parametrize("lines", range(1, 18))
async def test_a_file_cut_off_between_lines(tmp_path: Path, lines: int) -> None:
    path = await sample(tmp_path / "e")
    run_changed(path, lambda all_lines: all_lines[:lines])
    assert "without its closing line: it was cut off" in await refused(path)


def without_last_end(lines: Lines) -> Lines:
    return [*lines[:-1], lines[-1].rstrip()]


def edited(old: bytes, new: bytes) -> Change:
    return lambda lines: [line.replace(old, new) for line in lines]


def with_line(number: int, line: bytes) -> Change:
    return lambda lines: [*lines[:number], line + b"\n", *lines[number + 1 :]]


def chosen(*numbers: int) -> Change:
    """These lines of the file's eighteen, in this order."""
    return lambda lines: [lines[number] for number in numbers]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (edited(b'"imported":3', b'"imported":4'), "changed after it was written"),
        (edited(b'"version":6', b'"version":7'), ":1: an export of version 7"),
        (edited(b'"calls":4', b'"calls":"4"'), "calls is missing or of the wrong type"),
        (edited(b'"calls":4', b'"calls":true'), "calls is missing or of the wrong type"),
        (edited(b'"calls":4', b'"calls":2'), "nor successes more than calls"),
        (edited(b'"id":"Maps/geo', b'"id":"?Maps/geo'), "cannot have a document"),
        (edited(b'"toolset":"s"', b'"toolset":7'), ":2: no document of a tool: toolset"),
        (edited(b'"mark":"mute"', b'"mark":"hide"'), "'hide' is no mark"),
        (edited(b'"outcomes":["ok"]', b'"outcomes":["no"]'), "ok, transient or gone"),
        (edited(b'"at":"2026', b'"at":"when'), "Invalid isoformat"),
        (with_line(0, b"\x00\xff"), ":1: no export of Footpath"),
        (with_line(3, b"{oops"), ":4: no valid JSON"),
        (with_line(3, b"[1]"), ":4: no line of an export"),
        (with_line(3, b'{"kind":"wish"}'), ":4: 'wish' is no kind"),
        (chosen(), "no export of Footpath"),
        (chosen(*range(1, 18)), ":1: no export of Footpath"),
        (chosen(*range(5), *range(6, 18)), "the closing line counts"),
        (chosen(0, 17), ":2: the closing line counts"),
        (chosen(0, 1, 2, 4, 3, *range(5, 18)), ":5: it does not come after"),
        (chosen(0, 1, 2, 3, 3, *range(4, 18)), ":5: it does not come after"),
        (chosen(0, 3, 1, 2, *range(4, 18)), ":3: it does not come after"),
        (chosen(*range(18), 17), "more after the closing line"),
        (without_last_end, "ends within a line"),
    ],
)
async def test_a_file_that_was_changed(tmp_path: Path, change: Change, says: str) -> None:
    path = await sample(tmp_path / "e")
    run_changed(path, change)
    assert says in await refused(path)


async def test_broken_compression(tmp_path: Path) -> None:
    path = await sample(tmp_path / "e.gz")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    assert str(path) in await refused(path)


async def test_no_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(UsageError, match="no such file"):
            await imported(path, InMemoryGraph())
