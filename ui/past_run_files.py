"""Runs of the list as a file: a line of JSON each, or a table for a spreadsheet."""

import json
from collections.abc import Sequence

from ui.answer_files import csv_text
from ui.past_runs import PastRun

_FIELDS = ("id", "created_at", "finished_at", "conversation_id", "conversation_title", "request", "status", "outcome", "seconds", "tokens",
           "calls", "model_calls", "planner", "policy", "model", "verdict", "rerun_of")  # fmt: skip
"""For programs: they are the same in every language."""


def as_lines(runs: Sequence[PastRun]) -> str:
    """A line of JSON for each."""
    return "".join(json.dumps(_fields(run), ensure_ascii=False) + "\n" for run in runs)


def as_table(runs: Sequence[PastRun]) -> str:
    """CSV, safe to be opened by a spreadsheet."""
    rows = ([_text(value) for value in _fields(run).values()] for run in runs)
    return csv_text(_FIELDS, rows)


def _fields(run: PastRun) -> dict[str, object]:
    """``seconds`` and what follows: null of a run that has not ended."""
    told = run.model_dump(mode="json")
    used = run.usage if run.outcome else None
    told |= {
        "seconds": round(used.total_seconds, 3) if used else None,
        "tokens": used.tokens if used else None,
        "model_calls": used.model_calls if used else None,
    }
    return {name: told[name] for name in _FIELDS}


def _text(value: object) -> str:
    return "" if value is None else str(value)
