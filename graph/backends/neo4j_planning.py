"""What lies beside the graph in the same Neo4j, so that every machine plans with the same: flows, and kept fields."""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any
from uuid import uuid4

import orjson

from domain.tool import ToolId
from domain.trajectory import Taken
from graph.backends import cypher_planning
from graph.backends.bolt import Connection, Transaction
from graph.backends.neo4j_work import Neo4jWork, send, structured
from graph.dataflow import FlowCount, KnownFlow
from graph.kept_fields import FieldChoice


class Neo4jFlows(Neo4jWork):
    """A ``FlowStore`` on the graph's server. :meth:`setup` connects."""

    async def setup(self) -> None:
        await structured(self._connection, cypher_planning.STRUCTURE)

    async def add(self, key: str, taken: Sequence[Taken]) -> bool:
        totals = Counter((one.target, one.parameter, one.source) for one in taken)
        fields = Counter(((one.target, one.parameter, one.source), name) for one in taken for name in one.fields)
        rows = [_row(*place) | {"total": total} for place, total in sorted(totals.items())]
        token = uuid4().hex

        async def work(transaction: Transaction) -> bool:
            result = await transaction.run(cypher_planning.CLAIM, {"key": key, "token": token})
            ours: bool = (await result.single(strict=True)).value()
            if (await result.consume()).counters.nodes_created:
                before = await (await transaction.run(cypher_planning.ADD_TOTALS, {"rows": rows})).values()
                known = {place: orjson.loads(text) for place, text in before}
                for (place, name), count in fields.items():
                    counted = known[_digest(*place)]
                    counted[name] = counted.get(name, 0) + count
                texts = [{"place": place, "fields": _text(counted)} for place, counted in known.items()]
                await send(transaction, cypher_planning.SET_FIELDS, texts)
            return ours

        return await self._connection.write(work)

    async def forget(self, tools: Iterable[ToolId]) -> None:
        gone = {"tools": list(tools)}

        async def work(transaction: Transaction) -> None:
            await (await transaction.run(cypher_planning.FORGET, gone)).consume()

        await self._connection.write(work)

    async def into(self, tools: Iterable[ToolId]) -> dict[ToolId, list[KnownFlow]]:
        counts = [_count(row) for row in await self._by_chunks(cypher_planning.INTO, tools)]
        known = [
            KnownFlow(one.source, one.target, field, one.parameter, count, one.total)
            for one in counts
            for field, count in one.fields
        ]
        found: dict[ToolId, list[KnownFlow]] = {}
        for flow in sorted(known, key=lambda one: (one.target, -one.count, one.source, one.parameter, one.field)):
            found.setdefault(flow.target, []).append(flow)
        return found

    async def keys(self, after: str, limit: int) -> list[str]:
        return [key for (key,) in await self._connection.read(cypher_planning.KEYS, {"after": after, "limit": limit})]

    async def counts(self, after: tuple[str, str, str], limit: int) -> list[FlowCount]:
        place = dict(zip(("target", "parameter", "source"), after, strict=True))
        return [_count(row) for row in await self._connection.read(cypher_planning.COUNTS, {**place, "limit": limit})]

    async def restore(self, keys: Sequence[str], counts: Sequence[FlowCount]) -> None:
        rows = [_row(*one.place) | {"total": one.total, "fields": _text(dict(one.fields))} for one in counts]

        async def work(transaction: Transaction) -> None:
            await send(transaction, cypher_planning.SET_KEYS, list(keys))
            await send(transaction, cypher_planning.SET_FLOWS, rows)

        await self._connection.write(work)

    async def close(self) -> None:
        await self._connection.close()


class Neo4jKeptFields:
    """``KeptFields`` on the graph's server, which is connected to when first asked."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._ready = False

    async def recall(self, tool: ToolId, basis: str) -> FieldChoice | None:
        await self._setup()
        rows = await self._connection.read(cypher_planning.RECALL, {"place": _digest(tool, basis)})
        return FieldChoice(tuple(orjson.loads(rows[0][0])), tuple(orjson.loads(rows[0][1]))) if rows else None

    async def keep(self, tool: ToolId, basis: str, choice: FieldChoice) -> None:
        await self._setup()
        row = {"place": _digest(tool, basis), "kept": _text(choice.kept), "known": _text(choice.known)}

        async def work(transaction: Transaction) -> None:
            await (await transaction.run(cypher_planning.KEEP, row)).consume()

        await self._connection.write(work)

    async def close(self) -> None:
        await self._connection.close()

    async def _setup(self) -> None:
        if not self._ready:
            await structured(self._connection, cypher_planning.STRUCTURE)
            self._ready = True


def _digest(*parts: str) -> str:
    return blake2b(orjson.dumps(parts), digest_size=16).hexdigest()


def _row(target: str, parameter: str, source: str) -> dict[str, Any]:
    place = _digest(target, parameter, source)
    return {"place": place, "target": target, "parameter": parameter, "source": source}


def _text(value: object) -> str:
    return orjson.dumps(value).decode()


def _count(row: Sequence[Any]) -> FlowCount:
    target, parameter, source, total, fields = row
    return FlowCount(ToolId(target), parameter, ToolId(source), total, tuple(sorted(orjson.loads(fields).items())))
