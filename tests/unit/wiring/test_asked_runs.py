"""What was asked on the command line is noted by several processes at once, and by none where a store cannot be written."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
NOTE = """
import asyncio, sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from agent.learning.user_verdict import JudgedRun
from tests.support.program_events import ended, program, run_of
from wiring.run_history import record_run

container = SimpleNamespace(settings=SimpleNamespace(owner=""), folder=SimpleNamespace(run_history=Path(sys.argv[1])))
for number in range(20):
    records = [one.model_copy(update={"run": f"{sys.argv[2]}-{number}"}) for one in run_of([program(), ended()])]
    print(asyncio.run(record_run(container, records)))
"""


def noting(file: Path, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", NOTE, str(file), name]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_none_is_lost_that_two_processes_note_at_once(tmp_path: Path) -> None:
    file = tmp_path / "asked.jsonl"
    told = [process.communicate(timeout=100) for process in [noting(file, "one"), noting(file, "two")]]
    assert [error for _, error in told] == ["", ""]
    kept = {json.loads(line)["judged"]["run"] for line in file.read_text(encoding="utf-8").splitlines()}
    assert kept == {f"{name}-{number}" for name in ("one", "two") for number in range(20)}


def test_an_answer_is_given_though_it_cannot_be_noted(tmp_path: Path) -> None:
    said, error = noting(tmp_path / "nowhere" / "asked.jsonl", "one").communicate(timeout=100)
    assert said.split()[-1] == "one-19"
    assert "cannot be judged later" in error
