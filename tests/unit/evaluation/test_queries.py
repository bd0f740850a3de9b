import gzip
from pathlib import Path

import orjson
import pytest

from domain.errors import UsageError
from evaluation.api_names import normalize_api_name
from evaluation.queries import read_queries

LINE = {
    "split": "G2_category",
    "query": "rain?",
    "relevant": [
        {"category": "W", "tool": "Sky Net", "api": "/rain"},
        {"category": "X", "tool": "sky_net", "api": "Rain"},
    ],
}


def write(path: Path, *lines: object) -> Path:
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else orjson.dumps(line) for line in lines) + b"\n")
    return path


def test_spellings_of_one_api_are_one(tmp_path: Path) -> None:
    (query,), skipped = read_queries(write(tmp_path / "q.jsonl", LINE))
    assert (query.split, query.group, query.relevant) == (
        "G2_category",
        "I2",
        frozenset({normalize_api_name("Sky Net", "rain")}),
    )
    assert skipped == []


def test_gzip_and_other_splits(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl.gz"
    path.write_bytes(gzip.compress(orjson.dumps({**LINE, "split": "mine"})))
    assert [query.group for query in read_queries(path)[0]] == ["mine"]


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        {**LINE, "relevant": []},
        {**LINE, "relevant": [{"tool": "a"}]},
        {**LINE, "query": " "},
        {"query": "a"},
    ],
)
def test_a_broken_line_is_named_and_the_others_count(tmp_path: Path, line: object) -> None:
    queries, skipped = read_queries(write(tmp_path / "q.jsonl", LINE, line, LINE))
    assert len(queries) == 2
    assert [(item.file, item.line) for item in skipped] == [(str(tmp_path / "q.jsonl"), 2)]


def test_a_truncated_archive_gives_its_whole_lines(tmp_path: Path) -> None:
    body = gzip.compress(b"".join(orjson.dumps({**LINE, "query": f"rain {n * 7919}"}) + b"\n" for n in range(2000)))
    path = tmp_path / "q.jsonl.gz"
    path.write_bytes(body[: len(body) // 2])
    queries, skipped = read_queries(path)
    assert 0 < len(queries) < 2000
    assert len(skipped) == 1


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no file"):
        read_queries(tmp_path)
