"""Back ends of the stores that planning reads besides the graph, flows and kept fields: with the graph.

On its server every machine plans with the same data; otherwise they are in the store's folder.
"""

import asyncio

from graph.dataflow import FlowStore
from graph.kept_fields import KeptFields
from wiring.layout import StoreFolder
from wiring.settings import Settings
from wiring.store_servers import graph_connection

_PAGE = 500


def flows_of(settings: Settings, folder: StoreFolder, *, on_server: bool) -> FlowStore:
    """Create a store of flows, not open yet."""
    if on_server:
        from graph.backends.neo4j_planning import Neo4jFlows

        return Neo4jFlows(graph_connection(settings))
    from graph.backends.sqlite_dataflow import SqliteFlows

    return SqliteFlows(folder.flows)


def kept_fields_of(settings: Settings, folder: StoreFolder, *, on_server: bool) -> KeptFields:
    """Create a store of kept fields, which is opened when first used."""
    if on_server:
        from graph.backends.neo4j_planning import Neo4jKeptFields

        return Neo4jKeptFields(graph_connection(settings))
    from graph.backends.sqlite_kept_fields import SqliteKeptFields

    return SqliteKeptFields(folder.kept_fields)


async def copy_flows_to_server(flows: FlowStore, folder: StoreFolder) -> None:
    """Copy the flows that this machine counted in its folder to the server, where it has none yet."""
    if not await asyncio.to_thread(folder.flows.exists) or await flows.keys("", 1):
        return
    from graph.backends.sqlite_dataflow import SqliteFlows

    mine = SqliteFlows(folder.flows)
    await mine.setup()
    try:
        place = ("", "", "")
        while page := await mine.counts(place, _PAGE):
            await flows.restore([], page)
            place = page[-1].place
        after = ""
        while keys := await mine.keys(
            after, _PAGE
        ):  # last: a server with keys has all counts, so that an interrupted copy is repeated
            await flows.restore(keys, [])
            after = keys[-1]
    finally:
        await mine.close()
