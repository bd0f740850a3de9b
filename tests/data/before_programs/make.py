"""Makes the fixtures beside this file with the version that kept plans as steps: run from a checkout of commit 5cafcab (README.md)."""

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from base64 import b64encode
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
from pydantic import SecretStr

from domain.event import RunFinished
from playground.child import running_playground
from playground.record import DATA
from server.storage.runs import RunChoices
from server.storage.storage import open_storage
from server.storage.templates import TemplateContent
from tests.flows.program_world import code
from tests.flows.served import PASSWORD, WRITE, Client, Place, registered, serving
from tests.models.brain import Brain
from tests.models.openai_replies import ChatRequest
from tests.models.openai_server import model_server_in_thread
from wiring.build import BuildOptions, build
from wiring.settings import Settings

PORT = 8765
VAULT = "1:" + b64encode(b"kept for the tests of old rows!!").decode()
KEPT = ("/atlas/", "/skyline/", "/doable/", "/shelf/", "/scholar/")
WIND, TOWNS = "What is the wind speed in Vishalpur right now?", "How many inhabitants do Meghalpet and Vishalpur have?"
WEATHER, PEOPLE = (
    "What is the weather in Meghalpet today?",
    "Among the co-authors of Perpetua Oyelaran, whose works are cited most?",
)
BATCH, PARTLY = (
    "Put three things on my list: bread, milk, figs, due 2026-07-23.",
    "How windy is Vishalpur, and who owns it?",
)
PROGRAMS = {
    TOWNS: (
        'found = [(await search_places(city=city))["results"][0] for city in ["Meghalpet", "Vishalpur"]]',
        '{"answered": "yes", "answer": ", ".join(f"{one[\'city\']}: {one[\'population\']}" for one in found)}',
    ),
    WIND: (
        'place = (await search_places(city="Vishalpur"))["results"][0]',
        'now = await get_current_weather(latitude=place["latitude"], longitude=place["longitude"])',
        '{"answered": "yes", "answer": f"It is as the weather says: {now}"}',
    ),
    PEOPLE: (
        'person = (await searchPerson(name="Perpetua Oyelaran"))[0]',
        'others = await getCoauthors(person_id=person["person_id"])',
        'found = [(await searchPerson(name=one["name"]))[0] for one in others]',
        'best = max(found, key=lambda one: one["num_citation"])',
        '{"answered": "yes", "answer": f"{best[\'name\']}, {best[\'num_citation\']} citations"}',
    ),
    PARTLY: (
        'place = (await search_places(city="Vishalpur"))["results"][0]',
        'now = await get_current_weather(latitude=place["latitude"], longitude=place["longitude"])',
        '{"answered": "partly", "answer": f"Its weather: {now}", "missing": "who owns a city"}',
    ),
    BATCH: (
        "import asyncio",
        'things = ["bread", "milk", "figs"]',
        'made = await asyncio.gather(*[create_task(title=thing, due_date="2026-07-23") for thing in things])',
        '{"answered": "yes", "answer": f"{len(made)} tasks are on your list."}',
    ),
}  # fmt: skip


def main(to: Path) -> None:
    with tempfile.TemporaryDirectory() as name, running_playground(PORT) as address:
        folder = Path(name)
        place = Place(address, address, folder / "store")
        document = httpx.get(f"{address}/openapi.json", trust_env=False).json()
        document["paths"] = {path: one for path, one in document["paths"].items() if path.startswith(KEPT)}
        (folder / "openapi.json").write_text(json.dumps(document))
        asyncio.run(store_of(place, folder))
        with model_server_in_thread(Brain(program=[written])) as model:
            settings = {"FOOTPATH_MODEL_URL": model.url, "FOOTPATH_MODEL_NAME": "rules", "FOOTPATH_VAULT_KEYS": VAULT}
            (folder / "home").mkdir()
            command("create_user", "ada", "--role", "author", folder=folder)
            with serving(place, folder / "home", **settings) as (server, process):
                made = filled(server)
                process.terminate()
                process.wait(60)
        asyncio.run(by_hand(folder, made))
        kept(folder, to)
    (to / "made.json").write_text(json.dumps(made, indent=1) + "\n")


def written(request: ChatRequest) -> str:
    """The program of the request that the prompt ends with."""
    return next(code(*lines) for asked, lines in PROGRAMS.items() if asked in request.prompt)


async def store_of(place: Place, folder: Path) -> None:
    for answers in islice(filter(is_about_places, sorted(DATA.rglob("*.json"))), 16):
        copy = folder / answers.relative_to(DATA)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(answers, copy)
    options = BuildOptions(tools=(folder / "openapi.json",), trajectories=(folder,), store=place.store)
    await build(options, lambda stage, done, total: None, Settings(store=place.store))


def is_about_places(file: Path) -> bool:
    text = file.read_text()
    return '"give_answer\\' in text and "_for_atlas_places" in text and "_for_skyline_weather" in text


def filled(server: str) -> dict[str, Any]:
    """Runs and templates over HTTP; their ids by name."""
    ada, bob = logged_in(server, "ada"), registered(server, "bob")
    made: dict[str, Any] = {"runs": {}, "templates": {}}
    runs: dict[str, str] = made["runs"]
    conversation, runs["dfs"] = ada.ask(WIND, planner="dfs")
    finished(ada, runs["dfs"])
    made["conversation"] = conversation

    def asked(name: str, request: str, until: str = "run.finished", **choices: Any) -> str:
        """A run in a conversation of its own."""
        _, runs[name] = ada.ask(request, **choices)
        kinds = [one.event.kind for one in ada.follow(runs[name], until=until)]
        assert kinds[-1] == until, kinds
        assert ("program.started" in kinds) == ("policy" in choices), kinds
        return runs[name]

    by_program: dict[str, Any] = {"policy": "llm", "planner": "program"}
    for name, request in {"straight": WIND, "loop": TOWNS, "people": PEOPLE, "partly": PARTLY}.items():
        asked(name, request, **by_program)
    allowed(ada, asked("written", WRITE, "input.needed", planner="dfs"))
    allowed(ada, asked("approved", WEATHER, "input.needed", stop_at_plan=True))
    document = ada.call("GET", f"/runs/{runs['dfs']}/document").json()["document"]
    document["steps"][0]["arguments"]["city"] = "Meghalpet"
    again = ada.call("POST", f"/runs/{runs['dfs']}/rerun", {"document": document}).json()
    runs["steps"] = again["id"]
    finished(ada, runs["steps"])
    templates(made, ada, bob)
    asked("waits with a plan", WEATHER, "input.needed", stop_at_plan=True)
    edited = asked("waits with an edited plan", WEATHER, "input.needed", stop_at_plan=True)
    plan = ada.call("GET", f"/runs/{edited}/plan").json()
    plan["document"]["steps"][0]["arguments"]["city"] = "Vishalpur"
    ada.call("PUT", f"/runs/{edited}/plan", {"version": 0, "document": plan["document"]}).raise_for_status()
    asked("waits with a plan of a change", WRITE, "input.needed", stop_at_plan=True)
    asked("waits with a call", WRITE, "input.needed", planner="dfs")
    asked("waits with a batch", BATCH, "input.needed", **by_program)
    body = {"conversation_id": conversation, "parameters": {"title": "Feed the cat"}}
    begun = ada.call("POST", f"/templates/{made['templates']['Task']}/runs", body).json()["id"]
    runs["waits with a call of a template"] = begun
    ada.follow(begun, until="input.needed")
    return made


def templates(made: dict[str, Any], ada: Client, bob: Client) -> None:
    def added(body: dict[str, Any]) -> str:
        answer = ada.call("POST", "/templates", body)
        assert answer.status_code == 201, answer.text
        made["templates"][body["name"]] = answer.json()["id"]
        return answer.json()["id"]

    runs = made["runs"]
    wind = added({"name": "Wind", "run_id": runs["dfs"], "parameters": {"town": {"step": 1, "parameter": "city"}}})
    body = {"run_id": runs["straight"], "parameters": {"place": {"step": 1, "parameter": "city"}}}
    ada.call("POST", f"/templates/{wind}/versions", body).raise_for_status()
    ada.call("PATCH", f"/templates/{wind}", {"shared": True}).raise_for_status()
    talk = bob.call("POST", "/conversations", {}).json()["id"]
    run = {"conversation_id": talk, "version": 1, "parameters": {"town": "Meghalpet"}}
    taken = bob.call("POST", f"/templates/{wind}/runs", run)
    assert taken.status_code == 202, taken.text
    runs["of a taken template"] = taken.json()["id"]
    finished(bob, taken.json()["id"])
    steps = ada.call("GET", f"/runs/{runs['written']}/document").json()
    at = next(one for one in steps["parameters"] if one["parameter"] == "title")
    places = {"title": {"step": at["step"], "parameter": "title"}}
    added({"name": "Task", "run_id": runs["written"], "parameters": places})


async def by_hand(folder: Path, made: dict[str, Any]) -> None:
    """What no request makes while a server runs: a template of a tool that was removed since, and a run of steps that nobody has begun."""
    settings = Settings(server_home=folder / "home", store=folder / "store", vault_keys=SecretStr(VAULT))
    async with open_storage(settings) as storage:
        run = await storage.runs.get(made["runs"]["steps"])
        assert run is not None
        step: dict[str, Any] = {"tool": "Gone/Gone%20Set/gone", "arguments": {"id": "7"}, "takes": {}, "named": {}}
        content = TemplateContent(parameters={}, plan={"steps": [step], "parameters": {}}, note="Is it gone?")
        made["templates"]["Gone"] = (await storage.templates.add(run.user_id, "Gone", content)).id
        choices = RunChoices.model_validate(run.model_dump(include=set(RunChoices.model_fields)))
        queued = await storage.runs.add(run.user_id, made["conversation"], WEATHER, choices, add_message=True)
        made["runs"]["queued"] = queued.id


def kept(folder: Path, to: Path) -> None:
    """The home, the store without what is made anew from it, an export and a backup."""
    command("export_store", to / "store.jsonl.gz", "--recordings", "--force", folder=folder)
    command("backup", folder / "backup", folder=folder)
    for part in ("vectors", "lexical"):
        shutil.rmtree(folder / "store" / part)
    for file in (*folder.glob("home/*.db"), *folder.glob("store/*.db")):
        with sqlite3.connect(file) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            database.execute("VACUUM")
        database.close()
    with tarfile.open(to / "server.tar.xz", "w:xz") as packed:
        for part in ("home", "store", "backup"):
            packed.add(folder / part, part)


def command(name: str, *arguments: object, folder: Path) -> None:
    places = {"FOOTPATH_SERVER_HOME": str(folder / "home"), "FOOTPATH_STORE": str(folder / "store")}
    script = [sys.executable, f"scripts/{name}.py", *map(str, arguments)]
    variables = {**os.environ, **places, "FOOTPATH_VAULT_KEYS": VAULT, "NEW_USER_PASSWORD": PASSWORD}
    subprocess.run(script, env=variables, check=True)


def logged_in(server: str, name: str) -> Client:
    body = {"name": name, "password": PASSWORD}
    answer = httpx.post(f"{server}/api/v1/auth/login", json=body, trust_env=False)
    return Client(server, answer.raise_for_status().json()["access_token"])


def finished(client: Client, run: str) -> None:
    end = client.follow(run)[-1].event
    assert isinstance(end, RunFinished)
    assert end.outcome in ("answered", "partly"), end


def allowed(client: Client, run: str) -> None:
    (asked,) = client.call("GET", f"/runs/{run}/inputs").json()
    client.call("POST", f"/runs/{run}/inputs/{asked['id']}", {"decision": "allow"}).raise_for_status()
    finished(client, run)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
