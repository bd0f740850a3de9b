"""Indexes all tools anew beside the vectors in use, compares both, and switches to the new ones at once."""

import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from domain.errors import UsageError
from evaluation.queries import Query
from retriever.index import Embedder
from retriever.search import ToolSearch
from wiring.comparison import Comparison, Judging, compare, judged_by, sample_requests
from wiring.container import Container, open_container
from wiring.embedders import embedder_of
from wiring.encoder_change import EncoderChange, Progress
from wiring.encoder_choices import SETTINGS, chosen_by
from wiring.encoder_state import EncoderVectors
from wiring.settings import Settings


@dataclass(frozen=True, slots=True)
class Trial:
    """What the new vectors must show before they are switched to. ``queries``: requests with their relevant APIs, None for a sample.

    ``tolerance``: what NDCG@5 and Recall@10 may lose. ``force``: switch anyway. ``former``: settings of the encoder used so
    far, where it is neither the bundled one nor that of the settings.
    """

    queries: Sequence[Query] | None = None
    tolerance: float = 0.01
    force: bool = False
    former: Settings | None = None


@dataclass(frozen=True, slots=True)
class Reindexed:
    """``refused``: why the new vectors were not switched to; they are kept beside. ``dropped``: what was deleted after the switch.

    ``compared`` is None where there was nothing in use, or its encoder is not at hand.
    """

    tools: int
    embedded: int
    dropped: tuple[str, ...]
    seconds: float
    compared: Comparison | None = None
    refused: str = ""


async def reindex(
    progress: Callable[[int], None] | None = None,
    settings: Settings | None = None,
    *,
    store: Path | None = None,
    trial: Trial | None = None,
    keep_former: bool = False,
) -> Reindexed:
    """Interrupted anywhere, a second run goes on. ``keep_former``: what was in use is not deleted.

    Raises:
        UsageError: the settings name no usable encoder, no request of the trial has a relevant API in the store, or the former
            encoder of the trial did not make the vectors in use.
        UnavailableError: a store or service cannot be used.
    """
    trial, began = trial or Trial(), time.perf_counter()
    async with open_container(settings, store) as container, AsyncExitStack() as stack:
        judging = None if trial.queries is None else await judged_by(trial.queries, container.graph)
        known = await _former(trial, stack)
        change, new = EncoderChange(container), await container.encoders.embedder_of(SETTINGS)
        in_force = await change.in_force(known.identity if known else "")
        # Those of the new encoder: the same command has switched before, and was perhaps not let finish.
        if known and in_force and in_force.identity not in (known.identity, new.identity):
            raise UsageError(
                f"--former names {known.identity}, and the vectors in use were made by {in_force.identity}: name the "
                "settings of that encoder, or leave --former out"
            )
        brought = await change.prepare(chosen_by(container.settings), _tells(progress), threads=None, again=True)
        compared = await _compared(container, in_force, known, judging)
        refused = _refused(in_force, compared, trial)
        dropped = [] if refused else await _switched(change, keep_former=keep_former)
        seconds = time.perf_counter() - began
        return Reindexed(brought.tools, brought.embedded, tuple(dropped), seconds, compared, refused)


def _tells(progress: Callable[[int], None] | None) -> Progress:
    return lambda done, _: progress(done) if progress else None


async def _former(trial: Trial, stack: AsyncExitStack) -> Embedder | None:
    """The former encoder of the trial, where it names one."""
    if trial.former is None:
        return None
    embedder, close = embedder_of(trial.former)
    stack.push_async_callback(close)
    return embedder


async def _compared(
    container: Container, in_force: EncoderVectors | None, known: Embedder | None, judging: Judging | None
) -> Comparison | None:
    """None where nothing is in force, or its encoder is not at hand."""
    if in_force is None:
        return None
    encoders, lexical = container.encoders, container.words
    if known is None or known.identity != in_force.identity:
        known = await encoders.embedder_of(in_force.encoder)
    state = await encoders.state()
    if known.identity != in_force.identity or state.beside is None:
        return None
    former, new = await encoders.index_of(in_force), await encoders.open(state.beside, beside=True)
    return await compare(
        (known.identity, ToolSearch(known, former, lexical)),
        (new.embedder.identity, ToolSearch(new.embedder, new.index, lexical)),
        judging or await sample_requests(container.graph),
    )


def _refused(in_force: EncoderVectors | None, compared: Comparison | None, trial: Trial) -> str:
    """Why not to switch; empty: nothing speaks against it."""
    if trial.force or trial.queries is None or in_force is None:
        return ""
    if compared is None:
        return (
            f"the vectors in use were made by {in_force.identity}, which is not at hand to be compared with: give its settings "
            "with --former FILE, or switch without with --force"
        )
    if (lost := compared.worse_by()) > trial.tolerance:
        return (
            f"the new vectors lose {100 * lost:.1f} points, more than the {100 * trial.tolerance:.1f} they may: stay with "
            f"{compared.former}, or switch all the same with --force"
        )
    return ""


async def _switched(change: EncoderChange, *, keep_former: bool) -> list[str]:
    """The names of what was deleted."""
    if (await change.state()).former is not None:
        await change.drop_former()
    await change.switch()
    return [] if keep_former else await change.drop_all_former()
