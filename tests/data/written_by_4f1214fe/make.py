"""Makes the fixtures beside this file with commit 4f1214fe: run from a checkout of it (README.md)."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false, reportAttributeAccessIssue=false, reportMissingImports=false

import asyncio
import json
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import httpx
from sqlalchemy import NullPool, text
from sqlalchemy.ext.asyncio import create_async_engine
from tests.flows.served import INHABITANTS, PASSWORD, WRITE, Client, Place, catalogue_at, registered, serving
from tests.playing import running_playground

from playground.record import DATA
from tests.servers.neo4j.server import Neo4jServer
from tests.servers.postgres.databases import new_database
from tests.servers.postgres.server import PostgresServer

ROOT = Path.cwd()
PORT = 20765
WIND = "What is the wind speed in Vishalpur right now?"
ASKED = (INHABITANTS, "Convert 250 VDK into the currency of Marovia.", 'Who wrote "The Wandering Sparrow"?')
KEY = {"value": "the key of the weather", "hosts": ["weather.example"]}
LABEL = "nightly figures"
PIN_REASON = "The current weather is what people ask for."
SOURCE = {
    "name": "Harbour",
    "kind": "openapi",
    "category": "sea",
    "document": json.dumps(
        {
            "openapi": "3.1.0",
            "info": {"title": "Harbour", "version": "1"},
            "servers": [{"url": "https://harbour.example"}],
            "paths": {
                "/tides": {
                    "get": {
                        "operationId": "get_tides",
                        "summary": "The tides of a day in a harbour.",
                        "parameters": [{"name": "day", "in": "query", "required": True, "schema": {"type": "string"}}],
                        "responses": {"200": {"description": "The tides."}},
                    }
                }
            },
        }
    ),
}
OPERATIONS = (
    "search_places",
    "get_current_weather",
    "get_daily_forecast",
    "find_country",
    "convert_currency",
    "search_books",
    "get_book_details",
    "get_author_details",
    "list_tasks",
    "create_task",
    "complete_task",
)
TRAJECTORIES = (10, 11, 12, 47, 48, 49, 64, 65, 66, 70, 71, 72, 100, 101, 102, 221, 222, 223, 228, 229, 535, 536, 540)


def command(script, *arguments, **variables):
    """What one of the old program's commands prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / f"{script}.py"), *map(str, arguments)],
        env=environment,
        cwd=tempfile.gettempdir(),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{script} {arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def write_sources(folder, address):
    """The documents and trajectories of which the stores are built."""
    document = json.loads(catalogue_at(address))
    document["paths"] = {
        path: kept
        for path, item in document["paths"].items()
        if (kept := {method: one for method, one in item.items() if one["operationId"] in OPERATIONS})
    }
    (folder / "openapi.json").write_text(json.dumps(document))
    answers = folder / "answer" / "G1_answer"
    answers.mkdir(parents=True)
    for number in TRAJECTORIES:
        shutil.copy(DATA / "answer" / "G1_answer" / f"{number}_playground_DFS_woFilter_w2.json", answers)


def build_store(sources, address, **variables):
    """Documents, imported walks, and what a few requests without a server teach."""
    variables["FOOTPATH_ALLOW_HOSTS"] = address.removeprefix("http://")
    command("build_graph", "--tools", sources / "openapi.json", "--trajectories", sources / "answer", **variables)
    for request in ASKED:
        print(command("ask", request, "--json", **variables)[-300:])


def wait_for(client, run, status):
    until = time.monotonic() + 60
    while (shown := client.call("GET", f"/runs/{run}").json())["status"] != status:
        assert time.monotonic() < until, shown
        time.sleep(0.1)
    return shown


def checked(answer):
    assert answer.is_success, answer.text
    return answer.json()


def use_server(place, home, backup, **variables):
    """What users of a server leave behind. Returns what a test has to know."""
    for name, role in (("boss", "admin"), ("ada", "user")):
        command(
            "create_user", name, "--role", role, FOOTPATH_SERVER_HOME=str(home), NEW_USER_PASSWORD=PASSWORD, **variables
        )
    token = command(
        "create_token", "boss", "--days", 365, "--label", LABEL, FOOTPATH_SERVER_HOME=str(home), **variables
    )
    known = {"token": token.split()[-1]}
    with serving(place, home, **variables) as (address, process):
        people = {}
        for name in ("boss", "ada"):
            body = {"name": name, "password": PASSWORD}
            answer = httpx.post(f"{address}/api/v1/auth/login", json=body, trust_env=False, timeout=60)
            people[name] = Client(address, checked(answer)["access_token"])
        people["eve"] = registered(address, "eve")
        boss, ada, eve = people.values()
        checked(ada.call("PUT", "/me/tool-keys/weather", KEY))
        (tool,) = [one["id"] for one in checked(boss.call("GET", "/tools"))["tools"] if "search_places" in one["id"]]
        (target,) = [
            one["id"] for one in checked(boss.call("GET", "/tools"))["tools"] if "get_current_weather" in one["id"]
        ]
        word = {"kind": "edge", "target": target, "mark": "pin", "reason": PIN_REASON}
        checked(boss.call("PUT", f"/tools/{tool}/marks", word))
        known |= {"tool": tool, "target": target}
        known["conversation"], known["answered"] = ada.ask(INHABITANTS, planner="program")
        records = ada.follow(known["answered"])
        assert records[-1].event.outcome == "answered", records[-1]
        known["answer"], known["events"] = records[-1].event.answer, len(records)
        checked(ada.call("PUT", f"/runs/{known['answered']}/verdict", {"verdict": "right", "note": "as in the atlas"}))
        _, wind = ada.ask(WIND, planner="react")
        assert ada.follow(wind)[-1].event.outcome == "answered"
        template = checked(ada.call("POST", "/templates", {"name": "Wind", "run_id": wind}))["id"]
        parameters = {"town": {"step": 1, "parameter": "city"}}
        checked(ada.call("POST", f"/templates/{template}/versions", {"run_id": wind, "parameters": parameters}))
        _, allowed = eve.ask(WRITE)
        asked = eve.follow(allowed, until="input.needed")[-1].event
        checked(eve.call("POST", f"/runs/{allowed}/inputs/{asked.input}", {"decision": "allow", "always": True}))
        assert eve.follow(allowed)[-1].event.outcome == "answered"
        checked(boss.call("POST", "/sources", SOURCE))
        _, waiting = ada.ask(WRITE)
        question = ada.follow(waiting, until="input.needed")
        wait_for(ada, waiting, "waiting")
        known |= {
            "template": template,
            "waiting": waiting,
            "question": question[-1].event.input,
            "seen": len(question),
        }
        keys = backup.with_name("backup.keys")
        settings = {"FOOTPATH_SERVER_HOME": str(home), "FOOTPATH_STORE": str(place.store), **variables}
        print(command("backup", backup, "--keys-to", keys, "--json", **settings))
        process.terminate()
        process.wait()
    return known


async def keep_token(url):
    """A token of a program ends after a year at the latest; a test is to find this one for longer."""
    engine = create_async_engine(url, poolclass=NullPool)
    later = datetime(2099, 1, 1, tzinfo=UTC) if "postgres" in url else "2099-01-01 00:00:00.000000"
    async with engine.begin() as connection:
        of_programs = "SELECT id FROM sessions WHERE program"
        await connection.execute(
            text(f"UPDATE tokens SET expires_at = :at WHERE session_id IN ({of_programs})"), {"at": later}
        )
        await connection.execute(text("UPDATE sessions SET expires_at = :at WHERE program"), {"at": later})
    await engine.dispose()


def pack(path, folder, *names):
    """Packed by tar, which keeps the holes of files (the vectors' are preallocated, 150 MB)."""
    options = ["--sparse", "--owner=0", "--group=0", "--numeric-owner", "--sort=name"]
    subprocess.run(
        ["tar", *options, "-cJf", path, "-C", folder, *names], check=True, env={**os.environ, "XZ_OPT": "-9e"}
    )


def dump_neo4j(server, path):
    """All that is in it: statements of its constraints and indexes, its nodes, its relationships."""
    with server.driver() as driver:
        schema = [row["s"] for row in driver.execute_query("SHOW CONSTRAINTS YIELD createStatement AS s").records]
        rows = driver.execute_query("SHOW INDEXES YIELD createStatement, owningConstraint, type").records
        schema += [
            row["createStatement"] for row in rows if row["owningConstraint"] is None and row["type"] != "LOOKUP"
        ]
        nodes = driver.execute_query(
            "MATCH (n) RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS p"
        ).records
        edges = driver.execute_query(
            "MATCH (a)-[r]->(b) RETURN elementId(a) AS a, elementId(b) AS b, type(r) AS t, properties(r) AS p"
        ).records
    number = {row["id"]: n for n, row in enumerate(nodes)}
    kept = {
        "schema": schema,
        "nodes": [{"labels": row["labels"], "properties": row["p"]} for row in nodes],
        "relationships": [
            {"from": number[row["a"]], "to": number[row["b"]], "type": row["t"], "properties": row["p"]}
            for row in edges
        ],
    }
    path.write_bytes(lzma.compress(json.dumps(kept, indent=0, ensure_ascii=False).encode()))


def dump_qdrant(url, path):
    """Each collection with its settings, the indexes of its payloads, and its points."""
    kept = {"aliases": [], "collections": []}
    with httpx.Client(base_url=url, trust_env=False, timeout=60) as client:
        kept["aliases"] = checked(client.get("/aliases"))["result"]["aliases"]
        for one in checked(client.get("/collections"))["result"]["collections"]:
            told = checked(client.get(f"/collections/{one['name']}"))["result"]
            body = {"limit": 10_000, "with_payload": True, "with_vector": True}
            points = checked(client.post(f"/collections/{one['name']}/points/scroll", json=body))["result"]
            assert points["next_page_offset"] is None
            parameters = {
                name: value for name, value in told["config"]["params"].items() if name in ("vectors", "sparse_vectors")
            }
            if metadata := told["config"].get("metadata"):
                parameters["metadata"] = metadata
            schema = {name: told.get("params") or told["data_type"] for name, told in told["payload_schema"].items()}
            kept["collections"].append(
                {"name": one["name"], "create": parameters, "indexes": schema, "points": points["points"]}
            )
    path.write_bytes(lzma.compress(json.dumps(kept).encode()))


async def dump_postgres(server, place, work, folder):
    """Rows as statements that any later PostgreSQL takes, and a backup of them with the keys of the vault."""
    home = work / "server"
    async with new_database(server) as name:
        known = await asyncio.to_thread(
            use_server, place, home, work / "backup", FOOTPATH_DATABASE_URL=server.url(name)
        )
        await keep_token(server.url(name))
        dump = server._programs / "pg_dump"
        environment = {**os.environ, "PGPASSWORD": server.password}
        options = ["--host=127.0.0.1", f"--port={server.port}", f"--username={server.user}"]
        done = await asyncio.to_thread(
            subprocess.run,
            [dump, *options, "--rows-per-insert=50", "--no-owner", "--no-privileges", name],
            env=environment,
            capture_output=True,
            check=True,
        )
    (folder / "postgres.sql.xz").write_bytes(lzma.compress(done.stdout))
    pack(folder / "backup.postgres.tar.xz", work, "backup", "backup.keys")
    return known


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="written-"))
    known = {"port": PORT}
    with running_playground("--port", str(PORT)) as address:
        write_sources(work, address)
        store = work / "store"
        build_store(work, address, FOOTPATH_STORE=str(store))
        print(command("solutions", "list", "--store", store, "--json"))
        command("export_store", folder / "export.jsonl.gz", "--store", store, "--force")
        place = Place(address, address, store)
        known["sqlite"] = use_server(place, work / "server", work / "backup")
        asyncio.run(keep_token(f"sqlite+aiosqlite:///{work / 'server' / 'rows.db'}"))
        pack(folder / "home.tar.xz", work, "store", "server")
        pack(folder / "backup.sqlite.tar.xz", work, "backup", "backup.keys")

        postgres = PostgresServer()
        postgres.start()
        (work / "postgres").mkdir()
        try:
            known["postgres"] = asyncio.run(dump_postgres(postgres, place, work / "postgres", folder))
        finally:
            postgres.remove()
        (work / "neo4j").mkdir()
        neo4j = Neo4jServer(work / "neo4j")
        neo4j.start()
        try:
            settings = {
                "FOOTPATH_GRAPH_URL": neo4j.url,
                "FOOTPATH_GRAPH_USER": neo4j.user,
                "FOOTPATH_GRAPH_PASSWORD": neo4j.password,
                "FOOTPATH_VECTOR_URL": os.environ["QDRANT_URL"],
                "FOOTPATH_STORE": str(work / "shared"),
            }
            build_store(work, address, **settings)
            dump_neo4j(neo4j, folder / "neo4j.json.xz")
            dump_qdrant(os.environ["QDRANT_URL"], folder / "qdrant.json.xz")
        finally:
            neo4j.stop()
    (folder / "known.json").write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    shutil.rmtree(work)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
