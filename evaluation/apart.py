"""Requests run several at a time, each against a service of its own: what one changes, no other sees."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from agent.budget import Budget
from domain.event import Event
from evaluation.answers import events_of
from evaluation.correctness import Verdict, judge
from evaluation.expected import Asked
from evaluation.places import Place

Done = Callable[[Verdict, list[Event]], None]


async def evaluate_apart(
    asked: Sequence[Asked], places: Mapping[str, Sequence[Place]], budget: Budget, done: Done, at_once: int
) -> None:
    """Run and judge every request; ``done`` gets each verdict with the run's events as it comes. ``places``: by service; each
    is reset before a run has it. At most ``at_once`` run at a time.
    """
    free: dict[str, asyncio.Queue[Place]] = {}
    for service, some in places.items():
        free[service] = asyncio.Queue()
        for place in some:
            free[service].put_nowait(place)
    turns = asyncio.Semaphore(at_once)

    async def ask(one: Asked) -> None:
        async with turns:
            place = await free[one.service].get()
            try:
                await place.reset()
                events = await events_of(one, place.deps, await place.deps(), budget)
                done(judge(one, events, made=await place.made()), events)
            finally:
                free[one.service].put_nowait(place)

    async with asyncio.TaskGroup() as group:
        for one in asked:
            group.create_task(ask(one))
