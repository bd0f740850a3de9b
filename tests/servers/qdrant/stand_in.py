"""A stand-in for a Qdrant server: the routes that Footpath uses, over HTTP, answered by the client's local mode.

It shows that what the adapter sends and reads survives the wire, that several processes' views agree, and what refusals look
like. It is no proof about a real server: for that, set ``QDRANT_URL``.
"""

import threading
import time
from collections.abc import Awaitable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, TypeAdapter
from pydantic_core import to_jsonable_python
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.models import CreateCollection, UpdateCollection

from tests.servers.versions import deployed_version

_WRITING_POSTS = ("/points/delete", "/points/payload", "/points/payload/delete", "/collections/aliases")


@dataclass
class Traffic:
    """What was asked of a stand-in: requests, and points that it read out."""

    requests: int = 0
    points: int = 0

    def reset(self) -> None:
        """Count from here on."""
        self.requests = self.points = 0


def stand_in(api_key: str = "", read_only_key: str = "", traffic: Traffic | None = None) -> FastAPI:
    """An application with nothing in it."""
    app, traffic = FastAPI(), traffic or Traffic()
    local = AsyncQdrantClient(location=":memory:")
    _keys(app, api_key, read_only_key, traffic)
    _listing_routes(app, local)
    _collection_routes(app, local)
    _point_routes(app, local)
    _reading_routes(app, local, traffic)
    return app


async def answered(result: Awaitable[Any]) -> JSONResponse:
    try:
        found = to_jsonable_python(await result, exclude_none=True)
    except ValueError as error:
        status = 404 if "not found" in str(error) else 409 if "exists" in str(error) else 400
        return JSONResponse({"status": {"error": str(error)}, "time": 0.0}, status)
    return JSONResponse({"result": found, "status": "ok", "time": 0.0})


def _keys(app: FastAPI, api_key: str, read_only_key: str, traffic: Traffic) -> None:
    @app.middleware("http")
    async def keyed(request: Request, call_next: Any) -> Any:
        traffic.requests += 1
        key = request.headers.get("api-key", "")
        writes = request.method in ("PUT", "PATCH", "DELETE") or request.url.path.endswith(_WRITING_POSTS)
        if api_key and request.url.path != "/" and key not in (api_key, read_only_key or api_key):
            return JSONResponse("Must provide an API key or an Authorization bearer token", 401)
        if read_only_key and key == read_only_key and writes:
            return JSONResponse({"status": {"error": "Forbidden: Global write access is required"}}, 403)
        return await call_next(request)


def _listing_routes(app: FastAPI, local: AsyncQdrantClient) -> None:
    @app.get("/")
    async def info() -> Any:
        return {"title": "qdrant - vector search engine", "version": deployed_version("qdrant"), "commit": "0"}

    @app.get("/collections")
    async def collections() -> Any:
        return await answered(local.get_collections())

    @app.get("/aliases")
    async def aliases() -> Any:
        return await answered(local.get_aliases())

    @app.post("/collections/aliases")
    async def change_aliases(body: models.ChangeAliasesOperation) -> Any:
        return await answered(local.update_collection_aliases(body.actions))


def _collection_routes(app: FastAPI, local: AsyncQdrantClient) -> None:
    indexes: dict[str, dict[str, models.PayloadIndexInfo]] = {}
    """By collection and field: the local mode has none."""

    @app.put("/collections/{name}")
    async def create(name: str, body: CreateCollection) -> Any:
        config: Any = body.vectors
        return await answered(local.create_collection(name, vectors_config=config, metadata=body.metadata))

    @app.get("/collections/{name}/exists")
    async def exists(name: str) -> Any:
        async def existence() -> BaseModel:
            return models.CollectionExistence(exists=await local.collection_exists(name))

        return await answered(existence())

    @app.patch("/collections/{name}")
    async def update(name: str, body: UpdateCollection) -> Any:
        return await answered(local.update_collection(name, metadata=body.metadata))

    @app.get("/collections/{name}")
    async def read(name: str) -> Any:
        async def found() -> BaseModel:
            return (await local.get_collection(name)).model_copy(update={"payload_schema": indexes.get(name, {})})

        return await answered(found())

    @app.delete("/collections/{name}")
    async def delete(name: str) -> Any:
        indexes.pop(name, None)
        return await answered(local.delete_collection(name))

    @app.put("/collections/{name}/index")
    async def index(name: str, body: models.CreateFieldIndex) -> Any:
        keyword = models.PayloadSchemaType.KEYWORD
        indexes.setdefault(name, {})[body.field_name] = models.PayloadIndexInfo(data_type=keyword, points=0)
        return await answered(local.create_payload_index(name, body.field_name, keyword))


def _point_routes(app: FastAPI, local: AsyncQdrantClient) -> None:
    @app.put("/collections/{name}/points")
    async def upsert(name: str, body: models.PointsList) -> Any:
        return await answered(local.upsert(name, body.points))

    @app.post("/collections/{name}/points/delete")
    async def remove(name: str, body: models.PointIdsList | models.FilterSelector) -> Any:
        return await answered(local.delete(name, body))

    @app.post("/collections/{name}/points/payload")
    async def set_payload(name: str, body: models.SetPayload) -> Any:
        return await answered(local.set_payload(name, body.payload, _chosen(body)))

    @app.post("/collections/{name}/points/payload/delete")
    async def delete_payload(name: str, body: models.DeletePayload) -> Any:
        return await answered(local.delete_payload(name, body.keys, _chosen(body)))

    @app.post("/collections/{name}/facet")
    async def facet(name: str, body: models.FacetRequest) -> Any:
        return await answered(local.facet(name, body.key, body.filter, body.limit or 10))

    @app.post("/collections/{name}/points/count")
    async def count(name: str, body: models.CountRequest) -> Any:
        return await answered(local.count(name, body.filter, exact=True))

    @app.post("/collections/{name}/points/query")
    async def query(name: str, request: Request) -> Any:
        body = TypeAdapter(models.QueryRequest).validate_json(await request.body())
        vector: Any = body.query.nearest if isinstance(body.query, models.NearestQuery) else body.query
        payload, limit = _selected(body.with_payload), body.limit or 10
        return await answered(
            local.query_points(name, query=vector, query_filter=body.filter, limit=limit, with_payload=payload)
        )

    @app.post("/collections/{name}/points/query/batch")
    async def query_batch(name: str, request: Request) -> Any:
        body = TypeAdapter(models.QueryRequestBatch).validate_json(await request.body())
        return await answered(local.query_batch_points(name, body.searches))


def _reading_routes(app: FastAPI, local: AsyncQdrantClient, traffic: Traffic) -> None:
    @app.post("/collections/{name}/points")
    async def retrieve(name: str, body: models.PointRequest) -> Any:
        payload, vectors = _selected(body.with_payload), _selected(body.with_vector)

        async def found() -> list[models.Record]:
            records = await local.retrieve(name, body.ids, with_payload=payload, with_vectors=vectors)
            traffic.points += len(records)
            return records

        return await answered(found())

    @app.post("/collections/{name}/points/scroll")
    async def scroll(name: str, body: models.ScrollRequest) -> Any:
        limit, payload = body.limit or 10, _selected(body.with_payload)

        async def page() -> BaseModel:
            after: Any
            records, after = await local.scroll(name, body.filter, limit, offset=body.offset, with_payload=payload)
            traffic.points += len(records)
            return models.ScrollResult(points=records, next_page_offset=after)

        return await answered(page())


def _chosen(body: models.SetPayload | models.DeletePayload) -> models.Filter | models.PointIdsList:
    return body.filter or models.PointIdsList(points=body.points or [])


def _selected(selector: Any) -> Any:
    return True if selector is None else selector


@contextmanager
def serving_stand_in(api_key: str = "", read_only_key: str = "", traffic: Traffic | None = None) -> Generator[str]:
    """The URL of a stand-in on a free loopback port, in a thread with an event loop of its own."""
    config = uvicorn.Config(
        stand_in(api_key, read_only_key, traffic), host="127.0.0.1", port=0, log_level="error", lifespan="off"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started:
        assert thread.is_alive(), "the stand-in did not start"
        assert time.monotonic() < deadline, "the stand-in did not start in time"
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
