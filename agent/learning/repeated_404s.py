"""Settling of 404s that no single answer decides, by what the tool answered before and by repetition (ADR 26).

Who asked and with which values is kept in the store as applied keys of empty batches. Each key names one of 256
buckets, which reveals neither. A key also contains how often the tool has answered and was found gone, so either
event restarts the count.
"""

import json
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

from domain.event import CallFinished, EventRecord
from domain.plan import CallOutcome, StepResult
from domain.tool import ToolDoc, ToolId
from graph.facts import LiveBatch, ToolFacts

VALUES = 3
"""Different arguments for which a tool must return 404."""
USERS = 2
"""Different users who must have received it, if users are known."""
TOOLS = 3
"""Different tools of an API that must return 404, none of which has ever answered."""
_BUCKETS = 256


class ToolFactStore(Protocol):
    """The part of a graph store that settling needs."""

    async def get_tools(self, ids: Iterable[ToolId]) -> Mapping[ToolId, ToolDoc]: ...

    async def facts(self, ids: Iterable[ToolId]) -> Mapping[ToolId, ToolFacts]: ...

    def nodes(self) -> AsyncIterator[tuple[ToolId, ToolFacts]]: ...

    async def applied(self, keys: Iterable[str]) -> set[str]: ...

    async def learn(self, batch: LiveBatch) -> bool: ...


@dataclass(frozen=True, slots=True)
class _DoubtfulMiss:
    """A 404 that needs more evidence than itself to count."""

    at: int
    """Index of its record in the run."""
    result: StepResult
    tool: ToolDoc
    facts: ToolFacts

    @property
    def worked(self) -> bool:
        """True if the tool has ever answered, here or in imported data."""
        return bool(self.facts.ok or self.facts.successes)

    @property
    def scope_key(self) -> str:
        """Prefix of its keys: the tool with its current document, since it last answered or was found gone."""
        tool = self.tool
        return f"miss:{_compute_digest(tool.id, tool.method, tool.url, self.facts.ok, self.facts.gone)}"

    @property
    def api_scope(self) -> str:
        """Prefix of the keys of the API that the tool belongs to."""
        return f"miss:{_compute_digest(self.tool.category, self.tool.toolset)}"


async def settle_misses(records: Sequence[EventRecord], store: ToolFactStore, user: str = "") -> Sequence[EventRecord]:
    """Return a run's records with each doubtful 404 as ``gone`` if repetition shows it, else as ``undecided``.

    A tool that has answered before loses nothing by undecided 404s, however many, since they may be honest. One whose
    host answers as for paths that do not exist counts once it is repeated. For a tool that never answered, an
    undecided 404 counts once it is repeated, or once several tools of an API returned it of which none has ever
    answered. ``user``: who asked; empty if users are not known.
    """
    misses = await _find_misses(records, store)
    for miss in misses:
        await _record_miss(miss, store, user)
    settled = list(records)
    in_run = {miss.result.tool for miss in misses}
    for miss in misses:
        gone = await _is_repeated(miss, store, user) or await _is_of_dead_api(miss, store, in_run)
        outcome: CallOutcome = "gone" if gone else "undecided"
        result = miss.result.model_copy(update={"outcome": outcome})
        event = records[miss.at].event.model_copy(update={"result": result})
        settled[miss.at] = records[miss.at].model_copy(update={"event": event})
    return settled


async def _find_misses(records: Sequence[EventRecord], store: ToolFactStore) -> list[_DoubtfulMiss]:
    """Return the 404s of a run that need more evidence than themselves to count."""
    called = [(at, one.event.result) for at, one in enumerate(records) if isinstance(one.event, CallFinished)]
    missed = [(at, one) for at, one in called if one.http_status == 404 and one.outcome in ("undecided", "gone")]
    if not missed:
        return []
    ids = {result.tool for _, result in missed}
    docs, facts = await store.get_tools(ids), await store.facts(ids)
    misses = [
        _DoubtfulMiss(at, result, docs[result.tool], facts.get(result.tool, ToolFacts()))
        for at, result in missed
        if result.tool in docs and result.attempts
    ]
    return [miss for miss in misses if miss.result.outcome == "undecided" or (miss.worked and _has_values(miss))]


def _has_values(miss: _DoubtfulMiss) -> bool:
    """Return whether the call had values of its own; without any, its 404 can only be about the path."""
    parameters = {parameter.name: parameter for parameter in miss.tool.parameters}
    arguments = miss.result.arguments.items()
    return any(
        value is not None and (name not in parameters or parameters[name].default != value) for name, value in arguments
    )


async def _record_miss(miss: _DoubtfulMiss, store: ToolFactStore, user: str) -> None:
    """Record that the tool returned 404 for these values and this user, unless nothing could come of it."""
    if miss.worked and miss.result.outcome == "undecided":
        return
    values = json.dumps(miss.result.arguments, sort_keys=True)
    keys = {f"{miss.scope_key}:values:{_compute_bucket(miss.tool.id, values)}"}
    if user:
        keys.add(f"{miss.scope_key}:user:{_compute_bucket(miss.tool.id, user)}")
    if not miss.worked:
        keys.add(f"{miss.api_scope}:tool:{_compute_bucket(miss.tool.id)}")
    for key in sorted(keys - await store.applied(keys)):
        await store.learn(LiveBatch(key, {}, (), ()))


async def _is_repeated(miss: _DoubtfulMiss, store: ToolFactStore, user: str) -> bool:
    """Return whether the tool returned 404 for enough different values, to enough users."""
    if miss.worked and miss.result.outcome == "undecided":
        return False
    by_enough = not user or await _count_buckets(store, f"{miss.scope_key}:user") >= USERS
    return by_enough and await _count_buckets(store, f"{miss.scope_key}:values") >= VALUES


async def _is_of_dead_api(miss: _DoubtfulMiss, store: ToolFactStore, in_run: Collection[ToolId]) -> bool:
    """Return whether enough tools of the API returned 404 and none has ever answered.

    The tools whose 404s came before this was clear then count too.
    """
    if miss.worked or await _count_buckets(store, f"{miss.api_scope}:tool") < TOOLS:
        return False
    prefix, others = miss.tool.id.rpartition("/")[0] + "/", list[ToolId]()
    async for other, facts in store.nodes():
        if not other.startswith(prefix):
            continue
        if facts.ok or facts.successes:
            return False
        if other not in in_run and not facts.gone:
            others.append(other)
    keys = {other: f"{miss.api_scope}:tool:{_compute_bucket(other)}" for other in others}
    missed = await store.applied(keys.values())
    for other in others:
        if keys[other] in missed:
            # Its run has ended; a batch of its own, once, says what the run could not know.
            await store.learn(LiveBatch(f"{keys[other]}:gone", {}, (), ((other, "gone"),)))
    return True


async def _count_buckets(store: ToolFactStore, scope: str) -> int:
    """Return how many buckets of a scope are taken."""
    return len(await store.applied(f"{scope}:{bucket}" for bucket in range(_BUCKETS)))


def _compute_bucket(*parts: object) -> int:
    """Return the bucket of some values."""
    return int(_compute_digest(*parts), 16) % _BUCKETS


def _compute_digest(*parts: object) -> str:
    """Return a short digest of some values."""
    return sha256(json.dumps([str(part) for part in parts]).encode()).hexdigest()[:16]
