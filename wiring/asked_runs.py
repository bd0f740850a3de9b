"""What was asked on the command line of late: enough of each run that its answer can be judged afterwards. A server keeps all of its runs in rows."""

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
"""The latest so many runs."""


class WentBy(Model):
    """What served a run: a ``plan`` of its own, with its values, and ``words`` that name its inputs; or a ``solution`` that was taken, with ``values``."""

    plan: ProgramPlan | None = None
    words: str = ""
    solution: str = ""
    values: JsonObject = Field(default_factory=dict)


class AskedRun(Model):
    """``changes``: how often its verdict was changed. ``went_by``: None where no program can say it."""

    judged: Judged
    went_by: WentBy | None = None
    verdict: Verdict | None = None
    changes: int = 0


async def keep_run(container: Container, records: Sequence[EventRecord], went_by: WentBy | None = None) -> str:
    """Note a run that has ended, and what it went by, as far as the store can be written; its id."""
    run = AskedRun(judged=judged_of(records, container.settings.owner), went_by=went_by)
    try:
        await asyncio.to_thread(_put, container.folder.asked, run)
    except OSError as error:  # its answer was given all the same
        _log.warning("this run cannot be judged later: %s", error)
    return run.judged.run


async def wrong_answers(container: Container, request: str) -> frozenset[str]:
    """Answers to this request of which it was said that they are wrong."""
    known = await asyncio.to_thread(_read, container.folder.asked)
    wrong = [one.judged for one in known if one.verdict == "wrong"]
    return frozenset(
        answer for one in wrong if same_words(one.request, request) for answer in (one.answers or (one.answer,))
    )


async def asked_runs(container: Container, begins: str) -> list[AskedRun]:
    """Those whose ids begin so, of those that are known."""
    known = await asyncio.to_thread(_read, container.folder.asked)
    return [one for one in known if begins and one.judged.run.startswith(begins)]


async def judge_run(container: Container, run: str, verdict: Verdict | None) -> AskedRun:
    """Let a user's word on the answer of a run count, as :func:`agent.learning.verdict.judge` says.

    ``UsageError``: no such run is known any more.
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
    """In the place of what was known of it, one process after the other. Written whole beside the file first, so that one that is cut short leaves it
    as it was.
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
