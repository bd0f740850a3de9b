"""Settling of ambiguous 404 responses: a missing item, or a tool that no longer exists (ADR 26).

A single 404 does not decide this; earlier answers of the tool and repetition do. Users and values that received a 404
are stored as keys of empty batches. A key contains only a hash bucket out of 256, which reveals neither. It also
contains how often the tool has answered and was found gone, so that either event restarts the count.
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

MIN_VALUES = 3
"""Different arguments for which a tool must return 404."""
MIN_USERS = 2
"""Different users who must have received it, if users are known."""
MIN_TOOLS = 3
"""Different tools of an API that must return 404, none of which has ever answered."""
_BUCKETS = 256


class ToolFactStore(Protocol):
    """The part of a graph store that is needed to settle 404s."""

    async def get_tools(self, ids: Iterable[ToolId]) -> Mapping[ToolId, ToolDoc]:
        """Return the documents of the tools that exist."""
        ...

    async def get_facts(self, ids: Iterable[ToolId]) -> Mapping[ToolId, ToolFacts]:
        """Return what is known of tools from their calls."""
        ...

    def stream_nodes(self) -> AsyncIterator[tuple[ToolId, ToolFacts]]:
        """Iterate over all tools with what is known of them."""
        ...

    async def find_applied(self, keys: Iterable[str]) -> set[str]:
        """Return those keys whose batches were applied."""
        ...

    async def learn(self, batch: LiveBatch) -> bool:
        """Apply a batch once by its key; return whether it was new."""
        ...


@dataclass(frozen=True, slots=True)
class _DoubtfulMiss:
    """A 404 that does not show by itself that its tool is gone."""

    record_index: int
    """Index of its record in the run."""
    result: StepResult
    tool: ToolDoc
    facts: ToolFacts

    @property
    def has_answered(self) -> bool:
        """True if the tool has ever answered, here or in imported data."""
        return bool(self.facts.ok or self.facts.successes)

    @property
    def scope_key(self) -> str:
        """Prefix of its keys: the tool, its document, and how often it has answered and was found gone."""
        tool = self.tool
        return f"miss:{_compute_digest(tool.id, tool.method, tool.url, self.facts.ok, self.facts.gone)}"

    @property
    def api_scope(self) -> str:
        """Prefix of the keys of the API that the tool belongs to."""
        return f"miss:{_compute_digest(self.tool.category, self.tool.toolset)}"


async def settle_misses(records: Sequence[EventRecord], store: ToolFactStore, user: str = "") -> Sequence[EventRecord]:
    """Return a run's records with the outcome of each doubtful 404 set to ``gone`` or ``undecided``.

    A 404 is ``undecided`` at first if it may mean that the requested item does not exist, and ``gone`` if the response
    looks like that of an unknown path. The final outcome is ``gone``

    - for a tool that has answered before: if a 404 of the second kind is repeated;
    - for a tool that has never answered: if a 404 of either kind is repeated, or if several tools of the same API
      returned it and none of the API's tools has ever answered.

    Repeated means for several different values and, if users are known, for several users. ``user``: the user of the
    run; empty if unknown.
    """
    misses = await _find_misses(records, store)
    for miss in misses:
        await _record_miss(miss, store, user)
    settled = list(records)
    run_tools = {miss.result.tool for miss in misses}
    for miss in misses:
        gone = await _is_repeated(miss, store, user) or await _is_of_dead_api(miss, store, run_tools)
        outcome: CallOutcome = "gone" if gone else "undecided"
        result = miss.result.model_copy(update={"outcome": outcome})
        event = records[miss.record_index].event.model_copy(update={"result": result})
        settled[miss.record_index] = records[miss.record_index].model_copy(update={"event": event})
    return settled


async def _find_misses(records: Sequence[EventRecord], store: ToolFactStore) -> list[_DoubtfulMiss]:
    """Return the doubtful 404s of a run."""
    called = [
        (index, record.event.result) for index, record in enumerate(records) if isinstance(record.event, CallFinished)
    ]
    missed = [
        (index, result)
        for index, result in called
        if result.http_status == 404 and result.outcome in ("undecided", "gone")
    ]
    if not missed:
        return []
    ids = {result.tool for _, result in missed}
    docs, facts = await store.get_tools(ids), await store.get_facts(ids)
    misses = [
        _DoubtfulMiss(index, result, docs[result.tool], facts.get(result.tool, ToolFacts()))
        for index, result in missed
        if result.tool in docs and result.attempts
    ]
    return [miss for miss in misses if miss.result.outcome == "undecided" or (miss.has_answered and _has_values(miss))]


def _has_values(miss: _DoubtfulMiss) -> bool:
    """Return whether the call had values other than defaults; without any, its 404 can only be about the path."""
    parameters = {parameter.name: parameter for parameter in miss.tool.parameters}
    arguments = miss.result.arguments.items()
    return any(
        value is not None and (name not in parameters or parameters[name].default != value) for name, value in arguments
    )


async def _record_miss(miss: _DoubtfulMiss, store: ToolFactStore, user: str) -> None:
    """Record that the tool returned 404 for these values and this user, unless it can never count."""
    if miss.has_answered and miss.result.outcome == "undecided":
        return
    values = json.dumps(miss.result.arguments, sort_keys=True)
    keys = {f"{miss.scope_key}:values:{_compute_bucket(miss.tool.id, values)}"}
    if user:
        keys.add(f"{miss.scope_key}:user:{_compute_bucket(miss.tool.id, user)}")
    if not miss.has_answered:
        keys.add(f"{miss.api_scope}:tool:{_compute_bucket(miss.tool.id)}")
    for key in sorted(keys - await store.find_applied(keys)):
        await store.learn(LiveBatch(key, {}, (), ()))


async def _is_repeated(miss: _DoubtfulMiss, store: ToolFactStore, user: str) -> bool:
    """Return whether the tool returned 404 for enough different values and to enough users."""
    if miss.has_answered and miss.result.outcome == "undecided":
        return False
    enough_users = not user or await _count_buckets(store, f"{miss.scope_key}:user") >= MIN_USERS
    return enough_users and await _count_buckets(store, f"{miss.scope_key}:values") >= MIN_VALUES


async def _is_of_dead_api(miss: _DoubtfulMiss, store: ToolFactStore, run_tools: Collection[ToolId]) -> bool:
    """Return whether enough tools of the API returned 404 and none has ever answered.

    If so, the tools whose 404s were left undecided in earlier runs are recorded as gone too.
    """
    if miss.has_answered or await _count_buckets(store, f"{miss.api_scope}:tool") < MIN_TOOLS:
        return False
    prefix, unanswered_tools = miss.tool.id.rpartition("/")[0] + "/", list[ToolId]()
    async for other, facts in store.stream_nodes():
        if not other.startswith(prefix):
            continue
        if facts.ok or facts.successes:
            return False
        if other not in run_tools and not facts.gone:
            unanswered_tools.append(other)
    keys = {other: f"{miss.api_scope}:tool:{_compute_bucket(other)}" for other in unanswered_tools}
    recorded_keys = await store.find_applied(keys.values())
    for other in unanswered_tools:
        if keys[other] in recorded_keys:
            # The run that called it has ended, so the outcome is stored in a batch of its own.
            await store.learn(LiveBatch(f"{keys[other]}:gone", {}, (), ((other, "gone"),)))
    return True


async def _count_buckets(store: ToolFactStore, scope: str) -> int:
    """Return how many buckets of a scope were recorded."""
    return len(await store.find_applied(f"{scope}:{bucket}" for bucket in range(_BUCKETS)))


def _compute_bucket(*parts: object) -> int:
    """Return the hash bucket of some values."""
    return int(_compute_digest(*parts), 16) % _BUCKETS


def _compute_digest(*parts: object) -> str:
    """Return a short digest of some values."""
    return sha256(json.dumps([str(part) for part in parts]).encode()).hexdigest()[:16]
