"""Data flows and field choices in the graph's Neo4j database, shared by all servers.

    (:Flow {place, target, parameter, source, total, fields})
    (:FlowKey {key})
    (:KeptFields {place, kept, known})

``place`` is a digest of the identifying values, which may be too long for an index. ``FlowKey`` holds the keys that
were counted. ``fields``, ``kept`` and ``known`` are JSON texts.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, Final, LiteralString
from uuid import uuid4

import orjson

from domain.tool import ToolId
from domain.trajectory import TakenValue
from graph.backends.bolt import Connection, Neo4jWork, Transaction, send, structured
from graph.dataflow import FlowCount, KnownFlow
from graph.field_choices import FieldChoice

STRUCTURE: Final[tuple[LiteralString, ...]] = (
    "CREATE CONSTRAINT footpath_flow IF NOT EXISTS FOR (n:Flow) REQUIRE n.place IS UNIQUE",
    "CREATE CONSTRAINT footpath_flow_key IF NOT EXISTS FOR (n:FlowKey) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT footpath_kept_fields IF NOT EXISTS FOR (n:KeptFields) REQUIRE n.place IS UNIQUE",
    "CREATE INDEX footpath_flow_target IF NOT EXISTS FOR (n:Flow) ON (n.target)",
)

CLAIM: Final = "MERGE (k:FlowKey {key: $key}) ON CREATE SET k.token = $token RETURN k.token = $token AS ours"

# Setting the total locks the node, so that its fields are read under the lock.
ADD_TOTALS: Final = """
UNWIND $rows AS row
MERGE (f:Flow {place: row.place})
ON CREATE SET f.target = row.target, f.parameter = row.parameter, f.source = row.source, f.total = 0, f.fields = '{}'
SET f.total = f.total + row.total
RETURN f.place AS place, f.fields AS fields
"""
SET_FIELDS: Final = "UNWIND $rows AS row MATCH (f:Flow {place: row.place}) SET f.fields = row.fields"

SET_KEYS: Final = "UNWIND $rows AS key MERGE (k:FlowKey {key: key})"
SET_FLOWS: Final = """
UNWIND $rows AS row
MERGE (f:Flow {place: row.place})
SET f.target = row.target, f.parameter = row.parameter, f.source = row.source, f.total = row.total, f.fields = row.fields
"""
FORGET: Final = "MATCH (f:Flow) WHERE f.target IN $tools OR f.source IN $tools DELETE f"

INTO: Final = """
UNWIND $values AS target MATCH (f:Flow {target: target})
RETURN f.target, f.parameter, f.source, f.total, f.fields
"""
KEYS: Final = "MATCH (k:FlowKey) WHERE k.key > $after RETURN k.key ORDER BY k.key LIMIT $limit"
COUNTS: Final = """
MATCH (f:Flow)
WHERE f.target > $target OR (f.target = $target AND (
    f.parameter > $parameter OR (f.parameter = $parameter AND f.source > $source)))
RETURN f.target, f.parameter, f.source, f.total, f.fields
ORDER BY f.target, f.parameter, f.source LIMIT $limit
"""

RECALL: Final = "MATCH (k:KeptFields {place: $place}) RETURN k.kept, k.known"
KEEP: Final = "MERGE (k:KeptFields {place: $place}) SET k.kept = $kept, k.known = $known"


class Neo4jFlows(Neo4jWork):
    """``FlowStore`` in the graph's database. :meth:`setup` connects."""

    async def setup(self) -> None:
        await structured(self._connection, STRUCTURE)

    async def add(self, key: str, taken: Sequence[TakenValue]) -> bool:
        totals = Counter((one.target, one.parameter, one.source) for one in taken)
        fields = Counter(((one.target, one.parameter, one.source), name) for one in taken for name in one.fields)
        rows = [_row(*place) | {"total": total} for place, total in sorted(totals.items())]
        token = uuid4().hex

        async def work(transaction: Transaction) -> bool:
            result = await transaction.run(CLAIM, {"key": key, "token": token})
            ours: bool = (await result.single(strict=True)).value()
            if (await result.consume()).counters.nodes_created:  # not on a retry of a commit that went through
                before = await (await transaction.run(ADD_TOTALS, {"rows": rows})).values()
                known = {place: orjson.loads(text) for place, text in before}
                for (place, name), count in fields.items():
                    counted = known[_digest(*place)]
                    counted[name] = counted.get(name, 0) + count
                texts = [{"place": place, "fields": _text(counted)} for place, counted in known.items()]
                await send(transaction, SET_FIELDS, texts)
            return ours

        return await self._connection.write(work)

    async def forget(self, tools: Iterable[ToolId]) -> None:
        gone = {"tools": list(tools)}

        async def work(transaction: Transaction) -> None:
            await (await transaction.run(FORGET, gone)).consume()

        await self._connection.write(work)

    async def find_flows_into(self, tools: Iterable[ToolId]) -> dict[ToolId, list[KnownFlow]]:
        counts = [_count(row) for row in await self._by_chunks(INTO, tools)]
        known = [
            KnownFlow(one.source, one.target, field, one.parameter, count, one.total)
            for one in counts
            for field, count in one.fields
        ]
        found: dict[ToolId, list[KnownFlow]] = {}
        for flow in sorted(known, key=lambda one: (one.target, -one.count, one.source, one.parameter, one.field)):
            found.setdefault(flow.target, []).append(flow)
        return found

    async def list_keys(self, after: str, limit: int) -> list[str]:
        return [key for (key,) in await self._connection.read(KEYS, {"after": after, "limit": limit})]

    async def list_counts(self, after: tuple[str, str, str], limit: int) -> list[FlowCount]:
        place = dict(zip(("target", "parameter", "source"), after, strict=True))
        return [_count(row) for row in await self._connection.read(COUNTS, {**place, "limit": limit})]

    async def restore(self, keys: Sequence[str], counts: Sequence[FlowCount]) -> None:
        rows = [_row(*one.sort_key) | {"total": one.total, "fields": _text(dict(one.fields))} for one in counts]

        async def work(transaction: Transaction) -> None:
            await send(transaction, SET_KEYS, list(keys))
            await send(transaction, SET_FLOWS, rows)

        await self._connection.write(work)

    async def close(self) -> None:
        await self._connection.close()


class Neo4jKeptFields:
    """``FieldChoiceStore`` in the graph's database; connects at the first use."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._ready = False

    async def recall(self, tool: ToolId, basis: str) -> FieldChoice | None:
        await self._setup()
        rows = await self._connection.read(RECALL, {"place": _digest(tool, basis)})
        return FieldChoice(tuple(orjson.loads(rows[0][0])), tuple(orjson.loads(rows[0][1]))) if rows else None

    async def keep(self, tool: ToolId, basis: str, choice: FieldChoice) -> None:
        await self._setup()
        row = {"place": _digest(tool, basis), "kept": _text(choice.kept), "known": _text(choice.known)}

        async def work(transaction: Transaction) -> None:
            await (await transaction.run(KEEP, row)).consume()

        await self._connection.write(work)

    async def close(self) -> None:
        await self._connection.close()

    async def _setup(self) -> None:
        if not self._ready:
            await structured(self._connection, STRUCTURE)
            self._ready = True


def _digest(*parts: str) -> str:
    """Return the ``place`` of a node: a digest of the values that identify it."""
    return blake2b(orjson.dumps(parts), digest_size=16).hexdigest()


def _row(target: str, parameter: str, source: str) -> dict[str, Any]:
    """Build the identifying columns of a row of ``ADD_TOTALS`` or ``SET_FLOWS``."""
    place = _digest(target, parameter, source)
    return {"place": place, "target": target, "parameter": parameter, "source": source}


def _text(value: object) -> str:
    return orjson.dumps(value).decode()


def _count(row: Sequence[Any]) -> FlowCount:
    """Build a flow count from a row of ``INTO`` or ``COUNTS``."""
    target, parameter, source, total, fields = row
    return FlowCount(ToolId(target), parameter, ToolId(source), total, tuple(sorted(orjson.loads(fields).items())))
