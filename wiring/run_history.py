"""History of recent runs of the command line: enough of each run to judge its answer later.

A server stores all of its runs in its database instead.
"""

import asyncio
import fcntl
import logging
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from agent.learning.user_verdict import JudgedRun, VerdictTargets, apply_verdict, build_judged_run, is_same_request
from agent.memory.long_term import LongTermMemory
from domain.errors import UsageError
from domain.event import EventRecord, Verdict
from domain.model import JsonObject, Model
from domain.program import ProgramPlan
from wiring.container import Container

_log = logging.getLogger(__name__)
_MAX_ENTRIES = 200
"""Number of latest runs that are kept."""


class RunBasis(Model):
    """Program that served a run: its own plan, or a solution that it used."""

    plan: ProgramPlan | None = None
    """The run's own plan with its values."""
    words: str = ""
    """Request whose words name the plan's inputs."""
    solution: str = ""
    """Id of the solution that was used."""
    values: JsonObject = Field(default_factory=dict)
    """Values with which the solution was used."""


class RunHistoryEntry(Model):
    """Entry of the history."""

    judged: JudgedRun
    went_by: RunBasis | None = None
    """None where no program describes the run."""
    verdict: Verdict | None = None
    changes: int = 0
    """How often the verdict was changed."""


async def record_run(container: Container, records: Sequence[EventRecord], went_by: RunBasis | None = None) -> str:
    """Record a run that has ended and the program that served it; return the run's id.

    Where the store cannot be written, this is only logged.
    """
    run = RunHistoryEntry(judged=build_judged_run(records, container.settings.owner), went_by=went_by)
    try:
        await asyncio.to_thread(_store_entry, container.folder.run_history, run)
    except OSError as error:  # not an error of the run: its answer was given already
        _log.warning("this run cannot be judged later: %s", error)
    return run.judged.run


async def find_wrong_answers(container: Container, request: str) -> frozenset[str]:
    """Return the answers to this request that were marked as wrong."""
    history = await asyncio.to_thread(_read_history, container.folder.run_history)
    wrong = [entry.judged for entry in history if entry.verdict == "wrong"]
    return frozenset(
        answer
        for entry in wrong
        if is_same_request(entry.request, request)
        for answer in (entry.answers or (entry.answer,))
    )


async def find_runs(container: Container, id_prefix: str) -> list[RunHistoryEntry]:
    """Return the recorded runs whose ids begin with this text."""
    history = await asyncio.to_thread(_read_history, container.folder.run_history)
    return [entry for entry in history if id_prefix and entry.judged.run.startswith(id_prefix)]


async def judge_run(container: Container, run: str, verdict: Verdict | None) -> RunHistoryEntry:
    """Apply a user's verdict on the answer of a run, as :func:`agent.learning.user_verdict.apply_verdict` says.

    ``UsageError``: no such run is recorded any more.
    """
    matches = await find_runs(container, run)
    if len(matches) != 1:
        problem = "several runs begin so" if matches else f"no run of the latest {_MAX_ENTRIES} is called so"
        raise UsageError(f"{problem}: {run!r}; python scripts/ask.py says a run's id at its end")
    entry = matches[0]
    if entry.verdict == verdict:
        return entry
    owner = container.settings.owner
    memory = LongTermMemory(await container.memories(), await container.embedder(), owner)
    targets = VerdictTargets(container.graph, memory, await container.solutions(owner), container.weights)
    changed = entry.model_copy(update={"verdict": verdict, "changes": entry.changes + 1})
    await apply_verdict(entry.judged, entry.verdict, verdict, targets, changed.changes)
    await asyncio.to_thread(_store_entry, container.folder.run_history, changed)
    return changed


def _read_history(file: Path) -> list[RunHistoryEntry]:
    lines = file.read_bytes().splitlines() if file.exists() else []
    return [RunHistoryEntry.model_validate_json(line) for line in lines]


def _store_entry(file: Path, run: RunHistoryEntry) -> None:
    """Replace a run's entry, one process at a time.

    The file is written under another name first, so that an interrupted write leaves it as it was.
    """
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _replace_entry(file, run)


def _replace_entry(file: Path, run: RunHistoryEntry) -> None:
    others = [entry for entry in _read_history(file) if entry.judged.run != run.judged.run]
    entries = [*others, run][-_MAX_ENTRIES:]
    part_file = file.with_suffix(".new")
    part_file.write_text("".join(f"{entry.model_dump_json()}\n" for entry in entries), encoding="utf-8")
    part_file.replace(file)
