from pathlib import Path

import orjson
import pytest

from domain.errors import BrokenInputError, UsageError
from evaluation.evaluation_cases import ExpectedValues, read_evaluation_cases

LINE: dict[str, object] = {
    "id": "a",
    "request": "How warm is it?",
    "calls": [{"operation": "weather", "arguments": {"city": {"from": "1.items[0].id"}}}],
    "expect": {"numbers": [9.6], "tolerance": 0.05, "texts": ["fog", ["00:20", "12:20 am"]]},
    "entities": ["Velmora"],
}


def write(path: Path, *lines: object) -> Path:
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else orjson.dumps(line) for line in lines) + b"\n")
    return path


def test_a_line(tmp_path: Path) -> None:
    (found,) = read_evaluation_cases([write(tmp_path / "two.jsonl", LINE)])
    assert found.group == "two"
    assert found.expect.texts == (("fog",), ("00:20", "12:20 am"))
    assert found.expect.values == ("9.6 ± 0.05", "fog", "00:20 / 12:20 am")
    assert (found.answerable, found.alone) == (True, False)


def test_one_that_cannot_be_answered(tmp_path: Path) -> None:
    line = {"id": "b", "request": "My wedding?", "answerable": False, "why": "no date"}
    (found,) = read_evaluation_cases([write(tmp_path / "none.jsonl", line)])
    assert found.expect == ExpectedValues()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "JSON"),
        ({**LINE, "surprise": 1}, "surprise"),
        ({**LINE, "calls": []}, "needs calls"),
        ({**LINE, "expect": {}}, "needs calls or a program"),
        ({**LINE, "expect": {"numbers": ["many"]}}, "expect.numbers.0"),
        ({**LINE, "expect": {"numbers": [1], "tolerance": -1}}, "expect.tolerance"),
        ({"id": "b", "request": "x", "answerable": False}, "says why"),
        ({**LINE, "answerable": False, "why": "x"}, "expects no value"),
        ({**LINE, "request": ""}, "request"),
        ({**LINE, "effects": ["book"]}, "runs alone"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path: Path, line: object, said: str) -> None:
    path = write(tmp_path / "one.jsonl", LINE, line)
    with pytest.raises(BrokenInputError, match=said) as caught:
        read_evaluation_cases([path])
    assert (caught.value.file, caught.value.line) == (str(path), 2)


def test_each_id_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'a' is taken"):
        read_evaluation_cases([write(tmp_path / "one.jsonl", LINE), write(tmp_path / "two.jsonl", LINE)])


def test_no_file_and_no_request(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no file"):
        read_evaluation_cases([tmp_path / "none.jsonl"])
    with pytest.raises(UsageError, match="no request"):
        read_evaluation_cases([write(tmp_path / "empty.jsonl", b"")])
