"""Runs of the version whose plans were steps, as the page draws them today: each with its calls."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.flows.before_programs import RUNS, unpacked
from ui.answer_parts import Sentences, answer_parts
from ui.people import sentence_told

_KINDS = list(RUNS)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database as that version left it."""
    return unpacked(tmp_path_factory.mktemp("old")).home / "rows.db"


def bodies(rows: Path, run: str) -> list[str]:
    """The events of a run, as they were told."""
    with closing(sqlite3.connect(rows)) as database:
        told = database.execute("SELECT body FROM run_events WHERE run_id = ? ORDER BY seq", (RUNS[run],))
        return [body for (body,) in told]


def page(bodies: list[str]) -> None:
    """A page with a run on it; Streamlit runs it apart, so it imports for itself."""
    import json

    from ui.run_state import run_state
    from ui.run_view import draw
    from ui.stream import Told

    story = run_state(Told(seq, json.loads(body)["event"]["kind"], body) for seq, body in enumerate(bodies, start=1))
    assert not story.skipped
    draw(story, unfolded=True)


def drawn(rows: Path, run: str) -> AppTest:
    return AppTest.from_function(page, default_timeout=30, kwargs={"bodies": bodies(rows, run)}).run()


@pytest.mark.parametrize("run", _KINDS)
def test_its_story_is_drawn(rows: Path, run: str) -> None:
    shown = drawn(rows, run)
    assert not shown.exception
    told: list[dict[str, Any]] = [json.loads(body)["event"] for body in bodies(rows, run)]
    if told and told[-1]["kind"] == "run.finished":
        plain = [one.text for one in answer_parts(told[-1]["answer"]).said if isinstance(one, Sentences)]
        assert {one.value.rstrip() for one in shown.text} >= {sentence_told(one) for one in plain}
        assert shown.expander[0].label.startswith("Answered")
    called = {one["result"]["tool"].rpartition("/")[2] for one in told if one["kind"] == "call.finished"}
    titles = [one.label.replace("\\", "") for one in shown.expander]
    assert {name for name in called if any(f"/ {name} " in title for title in titles)} == called
