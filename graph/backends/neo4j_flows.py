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
from graph.backends.neo4j_connection import Neo4jBackend, Neo4jConnection, Transaction, ensure_structure, run_in_chunks
from graph.dataflow import FlowCount, KnownFlow
from graph.field_choices import FieldChoice

FLOW_STRUCTURE: Final[tuple[LiteralString, ...]] = (
    "CREATE CONSTRAINT footpath_flow IF NOT EXISTS FOR (n:Flow) REQUIRE n.place IS UNIQUE",
    "CREATE CONSTRAINT footpath_flow_key IF NOT EXISTS FOR (n:FlowKey) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT footpath_kept_fields IF NOT EXISTS FOR (n:KeptFields) REQUIRE n.place IS UNIQUE",
    "CREATE INDEX footpath_flow_target IF NOT EXISTS FOR (n:Flow) ON (n.target)",
)

CLAIM_FLOW_KEY: Final = "MERGE (k:FlowKey {key: $key}) ON CREATE SET k.token = $token RETURN k.token = $token AS ours"

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
FORGET_FLOWS: Final = "MATCH (f:Flow) WHERE f.target IN $tools OR f.source IN $tools DELETE f"

FLOWS_INTO: Final = """
UNWIND $values AS target MATCH (f:Flow {target: target})
RETURN f.target, f.parameter, f.source, f.total, f.fields
"""
FLOW_KEY_PAGE: Final = "MATCH (k:FlowKey) WHERE k.key > $after RETURN k.key ORDER BY k.key LIMIT $limit"
FLOW_COUNT_PAGE: Final = """
MATCH (f:Flow)
WHERE f.target > $target OR (f.target = $target AND (
    f.parameter > $parameter OR (f.parameter = $parameter AND f.source > $source)))
RETURN f.target, f.parameter, f.source, f.total, f.fields
ORDER BY f.target, f.parameter, f.source LIMIT $limit
"""

READ_FIELD_CHOICE: Final = "MATCH (k:KeptFields {place: $place}) RETURN k.kept, k.known"
WRITE_FIELD_CHOICE: Final = "MERGE (k:KeptFields {place: $place}) SET k.kept = $kept, k.known = $known"


class Neo4jFlows(Neo4jBackend):
    """``FlowStore`` in the graph's database. :meth:`setup` connects."""

    async def setup(self) -> None:
        await ensure_structure(self._connection, FLOW_STRUCTURE)

    async def add(self, key: str, taken: Sequence[TakenValue]) -> bool:
        totals = Counter((value.target, value.parameter, value.source) for value in taken)
        fields = Counter(
            ((value.target, value.parameter, value.source), name) for value in taken for name in value.fields
        )
        rows = [_build_flow_row(*place) | {"total": total} for place, total in sorted(totals.items())]
        token = uuid4().hex

        async def write(transaction: Transaction) -> bool:
            result = await transaction.run(CLAIM_FLOW_KEY, {"key": key, "token": token})
            ours: bool = (await result.single(strict=True)).value()
            if (await result.consume()).counters.nodes_created:  # not on a retry of a commit that went through
                before = await (await transaction.run(ADD_TOTALS, {"rows": rows})).values()
                known = {place: orjson.loads(text) for place, text in before}
                for (place, name), count in fields.items():
                    counted = known[_build_place(*place)]
                    counted[name] = counted.get(name, 0) + count
                texts = [{"place": place, "fields": _to_json(counted)} for place, counted in known.items()]
                await run_in_chunks(transaction, SET_FIELDS, texts)
            return ours

        return await self._connection.write(write)

    async def forget(self, tools: Iterable[ToolId]) -> None:
        parameters = {"tools": list(tools)}

        async def write(transaction: Transaction) -> None:
            await (await transaction.run(FORGET_FLOWS, parameters)).consume()

        await self._connection.write(write)

    async def find_flows_into(self, tools: Iterable[ToolId]) -> dict[ToolId, list[KnownFlow]]:
        counts = [_to_flow_count(row) for row in await self._read_in_chunks(FLOWS_INTO, tools)]
        flows = [
            KnownFlow(flow_count.source, flow_count.target, field, flow_count.parameter, count, flow_count.total)
            for flow_count in counts
            for field, count in flow_count.fields
        ]
        flows_by_tool: dict[ToolId, list[KnownFlow]] = {}
        for flow in sorted(flows, key=lambda one: (one.target, -one.count, one.source, one.parameter, one.field)):
            flows_by_tool.setdefault(flow.target, []).append(flow)
        return flows_by_tool

    async def list_keys(self, after: str, limit: int) -> list[str]:
        return [key for (key,) in await self._connection.read(FLOW_KEY_PAGE, {"after": after, "limit": limit})]

    async def list_counts(self, after: tuple[str, str, str], limit: int) -> list[FlowCount]:
        place = dict(zip(("target", "parameter", "source"), after, strict=True))
        return [_to_flow_count(row) for row in await self._connection.read(FLOW_COUNT_PAGE, {**place, "limit": limit})]

    async def restore(self, keys: Sequence[str], counts: Sequence[FlowCount]) -> None:
        rows = [
            _build_flow_row(*flow_count.sort_key)
            | {"total": flow_count.total, "fields": _to_json(dict(flow_count.fields))}
            for flow_count in counts
        ]

        async def write(transaction: Transaction) -> None:
            await run_in_chunks(transaction, SET_KEYS, list(keys))
            await run_in_chunks(transaction, SET_FLOWS, rows)

        await self._connection.write(write)

    async def close(self) -> None:
        await self._connection.close()


class Neo4jFieldChoices:
    """``FieldChoiceStore`` in the graph's database; connects at the first use."""

    def __init__(self, connection: Neo4jConnection) -> None:
        self._connection = connection
        self._ready = False

    async def recall(self, tool: ToolId, basis: str) -> FieldChoice | None:
        await self._ensure_setup()
        rows = await self._connection.read(READ_FIELD_CHOICE, {"place": _build_place(tool, basis)})
        return FieldChoice(tuple(orjson.loads(rows[0][0])), tuple(orjson.loads(rows[0][1]))) if rows else None

    async def keep(self, tool: ToolId, basis: str, choice: FieldChoice) -> None:
        await self._ensure_setup()
        row = {"place": _build_place(tool, basis), "kept": _to_json(choice.kept), "known": _to_json(choice.known)}

        async def write(transaction: Transaction) -> None:
            await (await transaction.run(WRITE_FIELD_CHOICE, row)).consume()

        await self._connection.write(write)

    async def close(self) -> None:
        await self._connection.close()

    async def _ensure_setup(self) -> None:
        if not self._ready:
            await ensure_structure(self._connection, FLOW_STRUCTURE)
            self._ready = True


def _build_place(*parts: str) -> str:
    """Return the ``place`` of a node: a digest of the values that identify it."""
    return blake2b(orjson.dumps(parts), digest_size=16).hexdigest()


def _build_flow_row(target: str, parameter: str, source: str) -> dict[str, Any]:
    """Build the identifying columns of a row of ``ADD_TOTALS`` or ``SET_FLOWS``."""
    place = _build_place(target, parameter, source)
    return {"place": place, "target": target, "parameter": parameter, "source": source}


def _to_json(value: object) -> str:
    return orjson.dumps(value).decode()


def _to_flow_count(row: Sequence[Any]) -> FlowCount:
    """Build a flow count from a row of ``FLOWS_INTO`` or ``FLOW_COUNT_PAGE``."""
    target, parameter, source, total, fields = row
    return FlowCount(ToolId(target), parameter, ToolId(source), total, tuple(sorted(orjson.loads(fields).items())))
