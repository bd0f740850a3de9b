import gzip
import tracemalloc
from pathlib import Path

import pytest

from graph.importers import lines, records
from graph.importers.lines import JsonlLine, read_lines
from graph.importers.records import RecordError, SkippedInput, load


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def bodies(path: Path) -> list[bytes]:
    return [line.body for line in read_lines(path) if isinstance(line, JsonlLine)]


def problems(path: Path) -> list[str]:
    return [str(line).removeprefix(str(path)) for line in read_lines(path) if isinstance(line, SkippedInput)]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_plain_or_gzip_whatever_the_name_says(tmp_path: Path, pack: "type[bytes]") -> None:
    path = write(tmp_path / "a.jsonl", pack(b'\xef\xbb\xbf{"a":1}\r\n\n  {"b":2}'))
    assert [(line.number, line.body) for line in read_lines(path) if isinstance(line, JsonlLine)] == [
        (1, b'{"a":1}'),
        (3, b'{"b":2}'),
    ]


def test_a_truncated_archive_gives_its_lines_and_then_says_so(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(b'{"n":%d}\n' % n for n in range(5_000)))
    path = write(tmp_path / "a.gz", whole[: len(whole) // 2])
    read = len(bodies(path))
    assert read > 100
    assert problems(path) == [f":{read + 1}: the gzip data ends early; the {read} lines before it were read"]


def test_an_archive_of_several_members(tmp_path: Path) -> None:
    path = write(tmp_path / "a.gz", gzip.compress(b"1\n2\n") + gzip.compress(b"3\n") + b"\0" * 512)
    assert bodies(path) == [b"1", b"2", b"3"]
    assert problems(path) == []


def test_a_damaged_archive(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(bytes(range(256)) * 64))
    packed[12:40] = b"\xff" * 28
    (problem,) = problems(write(tmp_path / "a.gz", bytes(packed)))
    assert "broken gzip data" in problem


def test_a_long_line_is_passed_over_unheld(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_RECORD", 1 << 20)
    path = tmp_path / "a.jsonl"
    with path.open("wb") as stream:
        stream.write(b'{"a":1}\n')
        for _ in range(200):
            stream.write(b"x" * (1 << 20))
        stream.write(b'\n{"b":2}\n')
    tracemalloc.start()
    assert bodies(path) == [b'{"a":1}', b'{"b":2}']
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20
    assert problems(path) == [":2: a line longer than 1 MiB"]


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    assert problems(tmp_path) == [": cannot be read: Is a directory"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{'a': 1}", "not JSON"),
        (b'{"a": "\xff"}', "not UTF-8 (byte 7)"),
        (b"[1]", "the record must be an object, not a list"),
        (b'{"a":' * 2_000, "nested more than 1,024 levels deep"),
    ],
)
def test_why_a_record_cannot_be_read(body: bytes, reason: str) -> None:
    with pytest.raises(RecordError) as caught:
        load(body)
    assert reason in str(caught.value)


def test_a_long_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_RECORD", 10)
    with pytest.raises(RecordError, match="longer than"):
        records.read_capped(write(tmp_path / "a.json", b"x" * 11))
    assert records.read_capped(write(tmp_path / "b.json", b"x" * 10)) == b"x" * 10
