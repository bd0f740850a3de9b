"""One request to an open store, as the command line and the Python API send it: run, learnt from and recorded."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace

from agent.asking import Asker, NobodyThere
from agent.conversation import EarlierRun
from agent.execution.approval import Approver
from agent.execution.executor import Executor
from agent.execution.provenance import Voices
from agent.files.given import GivenFiles
from agent.plans.fixed_values import fixed_values, said_values
from agent.run_context import RunUser
from agent.scheduler import closing
from domain.event import EventRecord
from domain.learned import WeightsLearned
from domain.program import ProgramPlan
from wiring.asked_runs import keep_run, wrong_answers
from wiring.container import Container
from wiring.exporting import went_by
from wiring.links import link_news
from wiring.runs import budget_of, run_and_learn, run_deps


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, and how it is to be served."""

    request: str
    policy: str = "offline"
    planner: str = ""
    executor: str | Executor = "http"
    """A name, or an executor that the caller closes."""
    learn: bool = True
    approver: Approver | None = None
    """Approves calls that may change something; without one, none is made."""
    asker: Asker = field(default_factory=NobodyThere)
    plan: ProgramPlan | None = None
    """Carried out in place of a new plan."""
    earlier: Sequence[EarlierRun] = ()
    """Earlier runs of its conversation, the oldest first."""
    said: Sequence[str] = ()
    """Texts of the user in the earlier runs."""
    worded: bool = True
    """The request is one that somebody may ask again, so that it is remembered."""
    files: GivenFiles = field(default_factory=GivenFiles)
    """Files given with the request or with earlier ones."""


async def ask(container: Container, asked: Asked) -> AsyncGenerator[EventRecord]:
    """Yield the events of a run as they happen. After the last one, the answer can be judged by the run's id.

    Raises:
        UsageError: no such policy, planner or executor.
        UnavailableError: the tools are not indexed, or the index is in use.
    """
    deps = await run_deps(container, asked.policy, asked.executor, asked.planner, approver=asked.approver)
    voices = None
    if asked.said:
        voices = Voices((*said_values(asked.plan), *asked.said, asked.request), fixed_values(asked.plan))
    wrong = await wrong_answers(container, asked.request)
    deps = replace(
        deps,
        knowledge=deps.knowledge if asked.worded else replace(deps.knowledge, memory=None),
        planning=replace(deps.planning, plan=asked.plan),
        user=RunUser(asked.asker, voices=voices, files=asked.files, wrong_answers=wrong),
    )
    learns = asked.learn and container.settings.learn
    records: list[EventRecord] = []
    made = run_and_learn(asked.request, deps, budget_of(container), learn=learns, earlier=asked.earlier)
    async with closing(made) as events:
        async for record in events:
            records.append(record)
            yield record
    unlearnt = any(isinstance(one.event, WeightsLearned) and one.event.error for one in records)
    if learns and not unlearnt:  # a store that is out of reach cannot be linked; a later run does it
        await link_news(container)
    await keep_run(container, records, await went_by(container, records, asked.plan))


def usual_policy(container: Container) -> str:
    """Return ``llm`` where the settings name a model, else ``offline``."""
    return "llm" if container.settings.model_url else "offline"
