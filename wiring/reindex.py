"""Indexes all tools anew beside the vectors in use, compares both, and switches to the new ones at once."""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from domain.errors import UsageError
from evaluation.queries import Query
from retriever.index import Embedder
from retriever.indexing import index_tools
from retriever.lexical import LexicalIndex
from retriever.search import ToolSearch
from wiring.comparison import Comparison, Judging, compare, judged_by, sample_requests
from wiring.container import Container, open_container
from wiring.embedders import embedder_of
from wiring.index_switch import FolderIndexSwitch, Indexes, IndexSwitch, ServerIndexSwitch
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
    trial = trial or Trial()
    async with open_container(settings, store) as container, AsyncExitStack() as stack:
        judging = None if trial.queries is None else await judged_by(trial.queries, container.graph)
        embedder, lexical = container.embedder(), LexicalIndex(container.folder.lexical)
        at_hand = _encoders(container, trial, stack)
        known = {one.identity: one for one in reversed(at_hand)}
        former = at_hand[-1].identity if trial.former else ""
        place: IndexSwitch = (
            ServerIndexSwitch(container.server_index)
            if container.vectors_on_server
            else FolderIndexSwitch(container.folder.vectors)
        )
        stack.push_async_callback(place.close)
        both = await place.open(embedder.identity, embedder.dimension, ({former} if former else known).__contains__)
        # Those of the new encoder: the same command has switched before, and was perhaps not let finish.
        if former and both.former and both.former[0] not in (former, embedder.identity):
            raise UsageError(
                f"--former names {former}, and the vectors in use were made by {both.former[0]}: name the settings of that "
                "encoder, or leave --former out"
            )
        report = await index_tools(container.graph.documents(), embedder, both.new, lexical, progress)
        await (await container.memory()).embed()
        await (await container.solutions()).embed()
        compared = await _compared(container, both, known, lexical, judging)
        refused = _refused(both, compared, trial)
        dropped = () if refused else await _switched(container, place, lexical, keep_former=keep_former)
        return Reindexed(report.tools, report.embedded, tuple(dropped), report.seconds, compared, refused)


def _encoders(container: Container, trial: Trial, stack: AsyncExitStack) -> list[Embedder]:
    """The new one, the bundled one, and the former one of the trial where it names one."""
    bundled = container.settings.model_copy(update={"embedder": "bundled", "encoder_folder": None})
    found = [container.embedder()]
    for settings in [bundled, *([trial.former] if trial.former else [])]:
        embedder, close = embedder_of(settings)
        stack.push_async_callback(close)
        found.append(embedder)
    return found


async def _compared(
    container: Container,
    both: Indexes,
    known: dict[str, Embedder],
    lexical: LexicalIndex,
    judging: Judging | None,
) -> Comparison | None:
    if both.former is None or both.former[0] not in known:
        return None
    identity, index = both.former
    new = container.embedder()
    return await compare(
        (identity, ToolSearch(known[identity], index, lexical)),
        (new.identity, ToolSearch(new, both.new, lexical)),
        judging or await sample_requests(container.graph),
    )


def _refused(both: Indexes, compared: Comparison | None, trial: Trial) -> str:
    """Why not to switch; empty: nothing speaks against it."""
    if trial.force or trial.queries is None or both.former is None:
        return ""
    if compared is None:
        return (
            f"the vectors in use were made by {both.former[0]}, which is not at hand to be compared with: give its settings "
            "with --former FILE, or switch without with --force"
        )
    if (lost := compared.worse_by()) > trial.tolerance:
        return (
            f"the new vectors lose {100 * lost:.1f} points, more than the {100 * trial.tolerance:.1f} they may: stay with "
            f"{compared.former}, or switch all the same with --force"
        )
    return ""


async def _switched(container: Container, place: IndexSwitch, lexical: LexicalIndex, *, keep_former: bool) -> list[str]:
    await place.switch()
    if isinstance(place, ServerIndexSwitch):
        from wiring.indexing import publish_words

        await publish_words(container.graph, place.new, lexical)
    return [] if keep_former else await place.drop_former()
