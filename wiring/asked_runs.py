"""History of recent runs of the command line: enough of each run to judge its answer later.

A server stores all of its runs in its database instead.
"""

import asyncio
import fcntl
import logging
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from agent.learning.verdict import Judged, Told, judge, judged_of, same_words
from agent.memory.long_term import LongTermMemory
from domain.errors import UsageError
from domain.event import EventRecord
from domain.model import JsonObject, Model
from domain.program import ProgramPlan
from domain.verdict import Verdict
from wiring.container import Container

_log = logging.getLogger(__name__)
_KEPT = 200
"""Number of latest runs that are kept."""


class WentBy(Model):
    """Program that served a run: its own plan, or a solution that it used."""

    plan: ProgramPlan | None = None
    """The run's own plan with its values."""
    words: str = ""
    """Request whose words name the plan's inputs."""
    solution: str = ""
    """Id of the solution that was used."""
    values: JsonObject = Field(default_factory=dict)
    """Values with which the solution was used."""


class AskedRun(Model):
    """Entry of the history."""

    judged: Judged
    went_by: WentBy | None = None
    """None where no program describes the run."""
    verdict: Verdict | None = None
    changes: int = 0
    """How often the verdict was changed."""


async def keep_run(container: Container, records: Sequence[EventRecord], went_by: WentBy | None = None) -> str:
    """Record a run that has ended and the program that served it; return the run's id.

    Where the store cannot be written, this is only logged.
    """
    run = AskedRun(judged=judged_of(records, container.settings.owner), went_by=went_by)
    try:
        await asyncio.to_thread(_put, container.folder.asked, run)
    except OSError as error:  # not an error of the run: its answer was given already
        _log.warning("this run cannot be judged later: %s", error)
    return run.judged.run


async def wrong_answers(container: Container, request: str) -> frozenset[str]:
    """Return the answers to this request that were marked as wrong."""
    known = await asyncio.to_thread(_read, container.folder.asked)
    wrong = [one.judged for one in known if one.verdict == "wrong"]
    return frozenset(
        answer for one in wrong if same_words(one.request, request) for answer in (one.answers or (one.answer,))
    )


async def asked_runs(container: Container, begins: str) -> list[AskedRun]:
    """Return the recorded runs whose ids begin with this text."""
    known = await asyncio.to_thread(_read, container.folder.asked)
    return [one for one in known if begins and one.judged.run.startswith(begins)]


async def judge_run(container: Container, run: str, verdict: Verdict | None) -> AskedRun:
    """Apply a user's verdict on the answer of a run, as :func:`agent.learning.verdict.judge` says.

    ``UsageError``: no such run is recorded any more.
    """
    found = await asked_runs(container, run)
    if len(found) != 1:
        several = "several runs begin so" if found else f"no run of the latest {_KEPT} is called so"
        raise UsageError(f"{several}: {run!r}; python scripts/ask.py says a run's id at its end")
    asked = found[0]
    if asked.verdict == verdict:
        return asked
    owner = container.settings.owner
    memory = LongTermMemory(await container.memories(), await container.embedder(), owner)
    told = Told(container.graph, memory, await container.solutions(owner), container.weights)
    changed = asked.model_copy(update={"verdict": verdict, "changes": asked.changes + 1})
    await judge(asked.judged, asked.verdict, verdict, told, changed.changes)
    await asyncio.to_thread(_put, container.folder.asked, changed)
    return changed


def _read(file: Path) -> list[AskedRun]:
    lines = file.read_bytes().splitlines() if file.exists() else []
    return [AskedRun.model_validate_json(line) for line in lines]


def _put(file: Path, run: AskedRun) -> None:
    """Replace a run's entry, one process at a time.

    The file is written under another name first, so that an interrupted write leaves it as it was.
    """
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _replace(file, run)


def _replace(file: Path, run: AskedRun) -> None:
    others = [one for one in _read(file) if one.judged.run != run.judged.run]
    kept = [*others, run][-_KEPT:]
    beside = file.with_suffix(".new")
    beside.write_text("".join(f"{one.model_dump_json()}\n" for one in kept), encoding="utf-8")
    beside.replace(file)
