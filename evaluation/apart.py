"""Conversations run in parallel, each against a service of its own, so that none sees another's changes."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from agent.budget import Budget
from domain.event import Event
from evaluation.correctness import Verdict
from evaluation.expected import Asked, conversations
from evaluation.places import Place
from evaluation.turns import judged, turns_of

Done = Callable[[Verdict, Sequence[Event]], None]


async def evaluate_apart(
    asked: Sequence[Asked], places: Mapping[str, Sequence[Place]], budget: Budget, done: Done, at_once: int
) -> None:
    """Run and judge every request, at most ``at_once`` conversations at a time.

    Args:
        asked: the requests.
        places: running services by name; each is reset before a conversation gets it.
        budget: the limits of each run.
        done: gets each verdict with the run's events as it comes.
        at_once: conversations in parallel.
    """
    free: dict[str, asyncio.Queue[Place]] = {}
    for service, some in places.items():
        free[service] = asyncio.Queue()
        for place in some:
            free[service].put_nowait(place)
    turns = asyncio.Semaphore(at_once)

    async def ask(talk: Sequence[Asked]) -> None:
        service = talk[0].service
        async with turns:
            place = await free[service].get()
            try:
                await place.reset()
                known = 0
                async for turn in turns_of(talk, place.deps, budget):
                    # The ledger spans the conversation: each turn is judged by the changes after those already known.
                    made = await place.made()
                    done(judged(turn, made=made[known:]), turn.events)
                    known = len(made)
            finally:
                free[service].put_nowait(place)

    async with asyncio.TaskGroup() as group:
        for talk in conversations(asked):
            group.create_task(ask(talk))
