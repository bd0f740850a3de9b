"""Lessons that an outage delayed: learnt once, by any server, in the order in which the runs ended."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

from agent.learning.user_verdict import VerdictTargets, apply_verdict, build_judged_run
from agent.memory.long_term import LongTermMemory
from domain.errors import FootpathError, TransientError, UnavailableError
from domain.event import EventRecord, WeightsLearned
from server.runs.agent_runtime import REMEMBER_REQUEST, AgentRuntime
from server.runs.conversation_context import load_earlier_runs, load_run_files
from server.runs.event_journal import parse_events, to_stored_event
from server.runs.given_plans import load_given_plan
from server.storage.database import run_to_completion
from server.storage.run_records import WaitingLesson
from server.storage.runs import Run
from server.storage.storage import Storage
from wiring.runs import DeferredLesson, learn_later

_log = logging.getLogger(__name__)

MAX_WAITING = 10_000
"""Largest number of waiting lessons; beyond it the oldest are dropped."""
MAX_AGE = timedelta(days=30)
"""How long a lesson waits before it is dropped."""
MAX_TRIES = 5
"""After each this many tries a lesson goes to the end of the queue, since the lesson may be at fault."""
_LEASE = timedelta(seconds=120)
_LESSON_SECONDS = 90.0
"""Time limit for learning one lesson.

Less than the lease, so that no other server learns the same lesson at the same time.
"""
_POLL_SECONDS, _LONGEST_PAUSE = 5.0, 30.0


class LateLearner:
    """Background task of one process that learns waiting lessons.

    ``worker``: name of the process in leases. ``ready`` raises ``UnavailableError`` while a store is out of reach.
    """

    def __init__(
        self,
        storage: Storage,
        agents: AgentRuntime,
        worker: str,
        ready: Callable[[], Awaitable[None]],
        poll: float = _POLL_SECONDS,
    ) -> None:
        self._storage = storage
        self._agents = agents
        self._worker = worker
        self._ready = ready
        self._poll = poll

    async def run(self) -> None:
        """Learn waiting lessons until cancelled."""
        pause = self._poll
        while True:
            await asyncio.sleep(pause)
            try:
                held_up = not await self.learn_waiting()
            except FootpathError as error:
                _log.warning("waiting lessons could not be looked for: %s", error)
                held_up = True
            except Exception:  # noqa: BLE001  # a defect of ours must not end it for good
                _log.exception("waiting lessons could not be learnt")
                held_up = True
            pause = min(2 * pause, max(self._poll, _LONGEST_PAUSE)) if held_up else self._poll

    async def learn_waiting(self) -> bool:
        """Learn waiting lessons as far as the stores allow; return whether none is left."""
        count = await self._storage.lessons.count()
        if not count:
            return True
        try:
            await self._ready()
        except UnavailableError as error:
            _log.info("%d lessons wait for the stores: %s", count, error)
            return False
        learnt = 0
        while (waiting := await self._storage.lessons.claim(self._worker, _LEASE)) is not None:
            if not await self._settle(waiting, over_limit=count - learnt > MAX_WAITING):
                break
            learnt += 1
        remaining = await self._storage.lessons.count()
        if learnt:
            _log.info("%d lessons that an outage had held up are dealt with; %d wait", learnt, remaining)
        return not remaining

    async def _settle(self, waiting: WaitingLesson, *, over_limit: bool) -> bool:
        """Learn or drop one lesson; return whether it waits no more. The claim on it is released in any case."""
        try:
            expired = over_limit or self._storage.sources.get_time() - waiting.kept_at > MAX_AGE
            async with asyncio.timeout(_LESSON_SECONDS):
                return await self._learn(waiting.run_id, expired=expired)
        except (UnavailableError, TimeoutError) as error:
            _log.warning("the lesson of run %s waits on: %s", waiting.run_id, str(error) or "it took too long")
            return False
        finally:
            last = waiting.tries % MAX_TRIES == 0
            await run_to_completion(self._storage.lessons.release(waiting.run_id, self._worker, to_end=last))

    async def _learn(self, run_id: str, *, expired: bool) -> bool:
        run = await self._storage.runs.get(run_id)
        if run is None:
            return True  # the run was removed, and its lesson with it
        pages = self._storage.events.iterate_pages(run_id)
        records = [record async for page in pages for record in await parse_events(page)]
        lesson_record = next(
            (candidate for candidate in reversed(records) if isinstance(candidate.event, WeightsLearned)), None
        )
        learned: WeightsLearned | None = None
        if lesson_record is not None and isinstance(lesson_record.event, WeightsLearned):
            learned = lesson_record.event.model_copy(update={"deferred": "dropped"})
            if not expired:
                learned = await self._learn_or_drop(run, records, lesson_record.event)
        if learned is None or learned.deferred == "dropped":
            _log.warning("the lesson of run %s is dropped: %s", run_id, learned.error if learned else "no events")
        event = (
            to_stored_event(lesson_record.model_copy(update={"event": learned})) if lesson_record and learned else None
        )
        end = await self._storage.lessons.finish(run_id, self._worker, event, run.verdict_changes)
        # The run was removed while its lesson was learnt: what it taught must not stay.
        if end == "gone" and learned is not None:
            await forget_learned(self._agents, run.user_id, run_id, [learned])
        return end in ("ended", "gone")

    async def _learn_or_drop(self, run: Run, records: Sequence[EventRecord], before: WeightsLearned) -> WeightsLearned:
        """Learn as :meth:`_learn_from_run`; drop a lesson that fails, so that it does not hold up the others.

        Raises ``UnavailableError``, after which the lesson waits on.
        """
        try:
            return await self._learn_from_run(run, records, before)
        except UnavailableError:
            raise
        except FootpathError as error:
            _log.warning("the lesson of run %s could not be learnt: %s", run.id, error)
            why = f"{error.code}: {error.public_message}"
        except Exception as error:  # noqa: BLE001  # a defect of ours; told in the event
            _log.exception("the lesson of run %s could not be learnt", run.id)
            why = f"internal: {type(error).__name__}; the log has the details"
        return before.model_copy(update={"error": why, "deferred": "dropped"})

    async def _learn_from_run(self, run: Run, records: Sequence[EventRecord], before: WeightsLearned) -> WeightsLearned:
        """Return what the run teaches, after applying the verdict that its user gave meanwhile.

        Raises ``TransientError`` where the lesson has to wait on.
        """
        container = await self._agents.get_container_for_user(run.user_id)
        lesson = DeferredLesson(
            [record for record in records if record.event is not before],
            run.user_id,
            alone=not await load_earlier_runs(run, self._storage)
            and not (await load_run_files(run, self._storage)).all_files,
            planned=not run.settings.get("stop_at_plan"),
            updates_memory=bool(run.settings.get(REMEMBER_REQUEST, True)),
            updates_solutions=load_given_plan(run) is None,
        )
        lesson_result = await learn_later(container, lesson) or WeightsLearned()
        if lesson_result.deferred == "waiting":
            raise TransientError(lesson_result.error)
        if before.transitions or before.tools:  # already applied at the run's end, with scores of its policy
            lesson_result = lesson_result.model_copy(update={"transitions": before.transitions, "tools": before.tools})
        learned = lesson_result.model_copy(update={"deferred": "dropped" if lesson_result.error else "learnt"})
        if run.verdict is not None and not lesson_result.error:
            memory = LongTermMemory(await container.memories(), await container.embedder(), run.user_id)
            verdict_targets = VerdictTargets(
                container.graph, memory, await container.solutions(run.user_id), container.weights
            )
            judged_run = build_judged_run([_replace_event(record, before, learned) for record in records], run.user_id)
            await apply_verdict(judged_run, None, run.verdict, verdict_targets, run.verdict_changes)
        return learned


def _replace_event(record: EventRecord, before: WeightsLearned, learned: WeightsLearned) -> EventRecord:
    return record.model_copy(update={"event": learned}) if record.event is before else record


async def forget_learned(agents: AgentRuntime, user_id: str, run_id: str, learned: Sequence[WeightsLearned]) -> None:
    """Forget the memory of a request, and the user's own solutions that no other run has confirmed.

    Raises ``UnavailableError``.
    """
    if memory_ids := [learned_id for event in learned for learned_id in event.remembered]:
        await (await (await agents.get_container()).memories()).remove(memory_ids)
    if solution_ids := [learned_id for event in learned for learned_id in event.solutions]:
        library = await (await agents.get_container()).solutions(user_id)
        solutions = await library.get(solution_ids)
        await library.forget(
            [
                learned_id.id
                for learned_id in solutions.values()
                if learned_id.owner == user_id and set(learned_id.runs) <= {run_id}
            ]
        )


@asynccontextmanager
async def run_late_learner(
    storage: Storage, agents: AgentRuntime, worker: str, ready: Callable[[], Awaitable[None]]
) -> AsyncGenerator[None]:
    """Run a late learner for the time of the block; what it is learning at the end is left to the next server."""
    task = asyncio.create_task(LateLearner(storage, agents, worker, ready).run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
