"""The requests of programs: each one's own program, run against the service, gives what the line expects."""

import sys
from collections import Counter
from pathlib import Path

import pytest

from evaluation.evaluation_cases import EvaluationCase, group_conversations, read_evaluation_cases
from tests.support import forked_commands

ROOT = Path(__file__).parents[2]
REQUESTS = ROOT / "playground" / "requests"
FILES = sorted((REQUESTS / "programs").glob("*.jsonl"))
TALKS = sorted((REQUESTS / "conversations").glob("*.jsonl"))
ASKING = sorted((REQUESTS / "asking").glob("*.jsonl"))


@pytest.fixture(scope="module")
def asked() -> list[EvaluationCase]:
    return read_evaluation_cases(FILES)


@pytest.mark.timeout(120)
def test_what_lines_expect_is_what_their_programs_find() -> None:
    done = forked_commands.run(
        [sys.executable, str(ROOT / "scripts" / "make_program_requests.py"), "--check", *map(str, (*FILES, *TALKS, *ASKING))],
        cwd=ROOT, timeout=110,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_enough_of_each_kind(asked: list[EvaluationCase]) -> None:
    by_group = {group: sum(one.group == group for one in asked) for group in {one.group for one in asked}}
    assert by_group["without_schemas"] == 20
    assert by_group["languages"] >= 12
    assert by_group["ordered_changes"] == by_group["cannot"] == 10
    assert sum(one.service == "workshop" for one in asked) >= 15
    assert len({one.request for one in asked}) == len(asked) >= 100


def test_evidence_is_named_for_everything_that_is_worked_out(asked: list[EvaluationCase]) -> None:
    assert not [one.id for one in asked if one.expect.computed and not one.expect.evidence]


def test_there_are_thirty_dialogues_in_four_languages() -> None:
    talks = group_conversations(read_evaluation_cases(TALKS))
    assert Counter(talk[0].group for talk in talks) == {"english": 8, "german": 8, "spanish": 7, "chinese": 7}
    assert {len(talk) for talk in talks} == {2, 3}
    assert all(sum(one.fresh for one in talk) == (talk[-1].fresh) for talk in talks)
    by_language = {
        group: [one for talk in talks for one in talk if one.group == group]
        for group in ("english", "german", "spanish", "chinese")
    }
    for turns in by_language.values():
        assert any(one.changes for one in turns if one.turn > 1), "something is changed that an earlier turn found"
        assert any(one.fresh for one in turns), "the subject changes"
        assert any(one.service == "workshop" for one in turns)


def test_twenty_have_to_be_asked_about_and_twenty_look_like_it() -> None:
    asked = read_evaluation_cases(ASKING)
    assert Counter((one.group, one.ask is not None) for one in asked) == {("needed", True): 20, ("needless", False): 20}
    several = [one.ask.fits for one in asked if one.ask and one.ask.fits]
    assert len(several) >= 10
    for fits in several:
        assert len(fits) >= 2
        marks = Counter(mark for marks in fits for mark in marks)
        assert max(marks.values()) == 1, "no mark is that of two things"


def test_both_halves_have_something_of_each_kind() -> None:
    for half in (0, 1):
        talks = group_conversations(read_evaluation_cases([*TALKS, *ASKING]))[half::2]
        asked = [one for talk in talks for one in talk]
        assert len({one.group for one in asked}) == 6
        assert sum(bool(one.ask and one.ask.fits) for one in asked) >= 4
        assert sum(bool(one.ask and not one.ask.fits) for one in asked) >= 4
