"""The requests of programs: each one's own program, run against the service, gives what the line expects."""

import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.expected import Asked, read_asked

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "playground" / "requests" / "programs").glob("*.jsonl"))


@pytest.fixture(scope="module")
def asked() -> list[Asked]:
    return read_asked(FILES)


@pytest.mark.timeout(120)
def test_what_lines_expect_is_what_their_programs_find() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "make_program_requests.py"), "--check", *map(str, FILES)],
        cwd=ROOT, capture_output=True, text=True, timeout=110, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_enough_of_each_kind(asked: list[Asked]) -> None:
    by_group = {group: sum(one.group == group for one in asked) for group in {one.group for one in asked}}
    assert by_group["without_schemas"] == 20
    assert by_group["languages"] >= 12
    assert by_group["ordered_changes"] == by_group["cannot"] == 10
    assert sum(one.service == "workshop" for one in asked) >= 15
    assert len({one.request for one in asked}) == len(asked) >= 100


def test_evidence_is_named_for_everything_that_is_worked_out(asked: list[Asked]) -> None:
    assert not [one.id for one in asked if one.expect.computed and not one.expect.evidence]
