from pathlib import Path

import pytest

from domain.errors import UsageError
from evaluation.clarification import ClarificationQuestion
from evaluation.correctness import judge
from evaluation.result_files import VerdictFile
from tests.unit.evaluation.asking import asked, end, right_run


def test_verdicts_are_read_again_as_they_were(tmp_path: Path) -> None:
    one, other = asked(), asked(name="b")
    questions = (ClarificationQuestion(question="Which one?", choices=("a", "b"), answer="b"),)
    verdicts = [judge(one, right_run(), questions=questions), judge(other, [end("8")])]
    file = VerdictFile(tmp_path / "deep" / "kept.jsonl", {"planner": "dfs"})
    for verdict in verdicts:
        file.add(verdict, right_run())
    assert file.read([one, other]) == {"a": verdicts[0], "b": verdicts[1]}
    assert list(file.read([one])) == ["a"], "what is not asked is left alone"


def test_another_measurement_is_not_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    VerdictFile(path, {"planner": "dfs"}).add(judge(asked(), right_run()), right_run())
    with pytest.raises(UsageError, match="other conditions"):
        VerdictFile(path, {"planner": "program"}).read([asked()])


def test_no_file_keeps_nothing() -> None:
    file = VerdictFile(None, {})
    file.add(judge(asked(), right_run()), right_run())
    assert file.read([asked()]) == {}
