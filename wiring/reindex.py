"""All steps of a change of encoder at once: new vectors are made, compared with those in use, and switched to."""

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
from wiring.encoder_change import Brought, EncoderChange, Progress, bring_up_to_date, link_anew
from wiring.encoder_choices import SETTINGS, chosen_by
from wiring.encoder_state import EncoderVectors
from wiring.settings import Settings
from wiring.store_encoders import OpenVectors


@dataclass(frozen=True, slots=True)
class Trial:
    """Conditions for a switch to the new vectors."""

    queries: Sequence[Query] | None = None
    """Requests with their relevant APIs; None for a sample, which refuses nothing."""
    tolerance: float = 0.01
    """Largest accepted loss of NDCG@5 and Recall@10."""
    former: Settings | None = None
    """Settings of the encoder used so far, where it is neither the bundled one nor that of the settings."""


@dataclass(frozen=True, slots=True)
class Reindexed:
    """Result of a change of encoder."""

    tools: int
    embedded: int
    dropped: tuple[str, ...]
    """Names of deleted vectors, which the same encoder's new ones replaced."""
    seconds: float
    compared: Comparison | None = None
    """None where there was nothing in use, or its encoder is not available."""
    refused: str = ""
    """Why the new vectors were not switched to; they are kept beside those in use."""
    kept: str = ""
    """The encoder whose vectors were in use and are kept, so that one can switch back."""


async def reindex(
    progress: Callable[[int], None] | None = None,
    settings: Settings | None = None,
    *,
    store: Path | None = None,
    trial: Trial | None = None,
) -> Reindexed:
    """Take all steps of a change to the encoder of the settings: prepare, compare, switch.

    Interrupted, a second run goes on.

    The former vectors are kept, since running servers may search by them; to an encoder whose vectors are kept, this
    switches back.

    Raises:
        UsageError: the settings name no usable encoder, no request of the trial has a relevant API in the store, or the
            former
            encoder of the trial did not make the vectors in use.
        ConflictError: the vectors of a third encoder are still kept from the change before.
        UnavailableError: a store or service cannot be used.
    """
    trial, began = trial or Trial(), time.perf_counter()
    async with open_container(settings, store) as container, AsyncExitStack() as stack:
        judging = None if trial.queries is None else await judged_by(trial.queries, container.graph)
        known = await _former(trial, stack)
        change, new = EncoderChange(container), await container.encoders.embedder_of(SETTINGS)
        in_force = await change.in_force(known.identity if known else "")
        # They may be the new encoder's: the same command has switched before, and was perhaps interrupted after that.
        if known and in_force and in_force.identity not in (known.identity, new.identity):
            raise UsageError(
                f"--former names {known.identity}, and the vectors in use were made by {in_force.identity}: name the "
                "settings of that encoder, or leave --former out"
            )
        former = (await change.state()).former
        back = former if former and in_force and former.identity == new.identity != in_force.identity else None
        brought, prepared = await _prepare(container, change, back, _tells(progress))
        compared = await _compared(container, in_force, known, judging, prepared)
        refused = _refused(in_force, compared, trial)
        if not refused:
            await (change.switch_back() if back else change.switch())
        dropped, kept = await _finish(container, change, in_force, new.identity) if not refused else ([], "")
        seconds = time.perf_counter() - began
        return Reindexed(brought.tools, brought.embedded, tuple(dropped), seconds, compared, refused, kept)


async def _prepare(
    container: Container, change: EncoderChange, back: EncoderVectors | None, progress: Progress
) -> tuple[Brought, OpenVectors]:
    """Prepare the vectors to switch to. ``back``: the former vectors, which lack only what changed since."""
    encoders = container.encoders
    if back is not None:
        opened = await encoders.open(back)
        return await bring_up_to_date(container, opened.embedder, opened.index, progress), opened
    brought = await change.prepare(chosen_by(container.settings), progress, threads=None, again=True)
    beside = (await change.state()).beside
    assert beside is not None  # noqa: S101 (prepared just now)
    return brought, await encoders.open(beside, beside=True)


async def _finish(
    container: Container, change: EncoderChange, in_force: EncoderVectors | None, new: str
) -> tuple[list[str], str]:
    """Delete what nobody needs; return what was deleted, and the encoder whose vectors are kept.

    Nobody searches by older vectors of the same encoder once it was switched.
    """
    if in_force is None:
        return [], ""
    if in_force.identity == new:
        return await change.drop_older(in_force), ""
    await link_anew(container)
    return [], in_force.identity


def _tells(progress: Callable[[int], None] | None) -> Progress:
    return lambda done, _: progress(done) if progress else None


async def _former(trial: Trial, stack: AsyncExitStack) -> Embedder | None:
    """Open the former encoder of the trial, where it names one."""
    if trial.former is None:
        return None
    embedder, close = embedder_of(trial.former)
    stack.push_async_callback(close)
    return embedder


async def _compared(
    container: Container,
    in_force: EncoderVectors | None,
    known: Embedder | None,
    judging: Judging | None,
    new: OpenVectors,
) -> Comparison | None:
    """Compare the new vectors with those in use; None where there are none, or their encoder is not available."""
    if in_force is None:
        return None
    encoders, lexical = container.encoders, container.words
    if known is None or known.identity != in_force.identity:
        known = await encoders.embedder_of(in_force.encoder)
    if known.identity != in_force.identity:
        return None
    former = await encoders.index_of(in_force)
    return await compare(
        (known.identity, ToolSearch(known, former, lexical)),
        (new.embedder.identity, ToolSearch(new.embedder, new.index, lexical)),
        judging or await sample_requests(container.graph),
    )


def _refused(in_force: EncoderVectors | None, compared: Comparison | None, trial: Trial) -> str:
    """Return why not to switch; empty where nothing speaks against it."""
    if trial.queries is None or in_force is None:
        return ""
    if compared is None:
        return (
            f"the vectors in use were made by {in_force.identity}, which is not at hand to be compared with: give its settings "
            "with --former FILE, or switch without with --step switch"
        )
    if (lost := compared.worse_by()) > trial.tolerance:
        return (
            f"the new vectors lose {100 * lost:.1f} points, more than the {100 * trial.tolerance:.1f} they may: stay with "
            f"{compared.former} (--step discard deletes the new ones), or switch all the same with --step switch"
        )
    return ""
