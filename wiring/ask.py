"""One request to an open store, from the command line or the Python API: run it, learn from it and record it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent.conversation import EarlierRun
from agent.execution.approval import Approver
from agent.execution.executor import Executor
from agent.execution.provenance import RunStatements
from agent.files.file_parsing import FileLimits, read_file
from agent.files.given_files import GivenFiles
from agent.plans.planned_arguments import collect_fixed_values, collect_given_texts
from agent.run_context import RunUser
from agent.scheduler import closing
from agent.user_questions import NoUser, UserChannel
from domain.errors import UsageError
from domain.event import EventRecord, WeightsLearned
from domain.given_file import GivenFile
from domain.program import ProgramPlan
from wiring.container import Container
from wiring.links import link_after_run
from wiring.program_export import find_run_basis
from wiring.run_history import find_wrong_answers, record_run
from wiring.runs import build_budget, build_run_deps, run_and_learn
from wiring.settings import Settings


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A request, and the options of its run."""

    request: str
    policy: str = "offline"
    planner: str = ""
    """Name of the planner; empty for the default of the policy."""
    executor: str | Executor = "http"
    """Name of an executor, or an executor that the caller closes."""
    learn: bool = True
    """Learn from the run, unless the settings forbid learning."""
    approver: Approver | None = None
    """Approves calls that may change something; without one, none is made."""
    user_channel: UserChannel = field(default_factory=NoUser)
    """Answers questions of the run."""
    plan: ProgramPlan | None = None
    """Carried out in place of a new plan."""
    earlier: Sequence[EarlierRun] = ()
    """Earlier runs of its conversation, the oldest first."""
    earlier_texts: Sequence[str] = ()
    """Texts of the user in the earlier runs."""
    remember: bool = True
    """Recall and keep memories; False for a single call, which nobody requested in words."""
    files: GivenFiles = field(default_factory=GivenFiles)
    """Files given with the request or with earlier ones."""


async def ask(container: Container, run_request: RunRequest) -> AsyncGenerator[EventRecord]:
    """Yield the events of a run as they happen. After the last one, the answer can be judged by the run's id.

    Raises:
        UsageError: no such policy, planner or executor.
        UnavailableError: the tools are not indexed, or the index is in use.
    """
    deps = await build_run_deps(
        container, run_request.policy, run_request.executor, run_request.planner, approver=run_request.approver
    )
    statements = None
    if run_request.earlier_texts:
        statements = RunStatements(
            (*collect_given_texts(run_request.plan), *run_request.earlier_texts, run_request.request),
            collect_fixed_values(run_request.plan),
        )
    wrong_answers = await find_wrong_answers(container, run_request.request)
    deps = replace(
        deps,
        knowledge=deps.knowledge if run_request.remember else replace(deps.knowledge, memory=None),
        planning=replace(deps.planning, plan=run_request.plan),
        user=RunUser(
            run_request.user_channel, statements=statements, files=run_request.files, wrong_answers=wrong_answers
        ),
    )
    learns = run_request.learn and container.settings.learn
    records: list[EventRecord] = []
    run_events = run_and_learn(
        run_request.request, deps, build_budget(container), learn=learns, earlier=run_request.earlier
    )
    async with closing(run_events) as events:
        async for record in events:
            records.append(record)
            yield record
    learning_failed = any(
        isinstance(event_record.event, WeightsLearned) and event_record.event.error for event_record in records
    )
    if learns and not learning_failed:  # a store that is out of reach cannot be linked; a later run does it
        await link_after_run(container)
    await record_run(container, records, await find_run_basis(container, records, run_request.plan))


def choose_default_policy(container: Container) -> str:
    """Return ``llm`` where the settings name a model, else ``offline``."""
    return "llm" if container.settings.model_url else "offline"


async def read_given_files(paths: Sequence[Path], settings: Settings, before: Sequence[GivenFile] = ()) -> GivenFiles:
    """Read the files of a question. ``UsageError``: one cannot be read, or there are too many.

    ``before``: files of earlier questions of the conversation.
    """
    if len(paths) > settings.files:
        raise UsageError(f"a question may have {settings.files} files; this one has {len(paths)}")
    return await asyncio.to_thread(_read_files, paths, settings, before)


def _read_files(paths: Sequence[Path], settings: Settings, before: Sequence[GivenFile]) -> GivenFiles:
    limits = FileLimits(settings.file_bytes, settings.file_rows, settings.files)
    used_names = {given_file.variable for given_file in before}
    files: list[GivenFile] = []
    for path in paths:
        try:
            with path.open("rb") as opened:
                data = opened.read(limits.max_bytes + 1)
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
        files.append(read_file(path.name, data, limits, used_names))
        used_names.add(files[-1].variable)
    return GivenFiles(tuple(files), tuple(before)[: limits.max_files])
