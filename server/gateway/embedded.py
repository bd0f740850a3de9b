"""A store of this process's own, for one person: as ``scripts/ask.py`` serves them, behind the protocol."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace

from agent.asking import NobodyThere
from agent.execution.approvers import AllowChanges
from agent.scheduler import closing
from domain.event import EventRecord
from server.gateway.approving import PersonApprover, PersonAsker
from server.gateway.backend import Person, Task
from wiring.asked_runs import keep_run, wrong_answers
from wiring.container import Container
from wiring.links import link_news
from wiring.runs import budget_of, run_and_learn, run_deps

_HOW_ELSE = "Start the server with --yes to allow changes, use a client with elicitation, or ask.py at a terminal."


@dataclass(frozen=True, slots=True)
class EmbeddedBackend:
    """``policy``: who plans what is asked; empty: a model where the settings name one. ``yes``: all changes of a run are allowed, up to FOOTPATH_MAX_CHANGES."""

    container: Container
    policy: str = ""
    yes: bool = False
    executor: str = "http"

    @property
    def owner(self) -> str:
        """That of the settings."""
        return self.container.settings.owner

    async def run(self, task: Task, person: Person) -> AsyncGenerator[EventRecord]:
        """A run, learnt from at its end, and kept to be judged later."""
        container = self.container
        policy = self.policy or ("llm" if container.settings.model_url else "offline")
        approver = AllowChanges() if self.yes else PersonApprover(person, _HOW_ELSE)
        deps = await run_deps(container, policy, self.executor, approver=approver)
        deps = replace(
            deps,
            plan=task.plan,
            asker=PersonAsker(person) if person.there else NobodyThere(),
            wrong_answers=await wrong_answers(container, task.request),
            memory=deps.memory if task.worded else None,
        )
        records: list[EventRecord] = []
        learn = container.settings.learn
        async with closing(run_and_learn(task.request, deps, budget_of(container), learn=learn)) as told:
            async for record in told:
                records.append(record)
                yield record
        if learn:
            await link_news(container)
        await keep_run(container, records)
