"""Every example of the documentation: shell is held against the commands, options, settings, files and routes that there are; what is cheap runs."""

import ast
import asyncio
import inspect
import json
import re
import shutil
import sys
import tomllib
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from fastapi import APIRouter, FastAPI
from typer.core import TyperCommand, TyperGroup
from typer.testing import CliRunner

from footpath import AsyncFootpath, Footpath
from footpath.command import import_script
from footpath.command_table import COMMANDS
from playground.apis.service import refusals
from playground.failures import busy, fails
from playground.record import CATALOGUE
from server.app import create_app
from tests.flows.doc_examples import ROOT, Called, Example, called, examples
from tests.support.playground_process import running_playground
from tests.support.server_process import built
from wiring.container import open_container
from wiring.settings import Settings

WEATHER = "What is the temperature in Tarnholm right now?"
SHELL, PYTHON = examples("sh", "bash"), examples("python")
RUN = ("build_graph", "find_tools", "ask", "solutions", "export_program", "export_store", "import_store", "verify_store", "make_offer_requests")  # fmt: skip
NOT_RUN = {
    "_chat": "waits for its user: tests/flows/test_python_library.py",
    "backup": "needs a server's folder: tests/flows/test_backup.py",
    "check_model": "needs a model: tests/flows/test_check_model.py",
    "create_user": "asks for a password: tests/flows/test_server_commands.py",
    "evaluate": "minutes, or data that is not here: tests/flows/test_evaluate*.py",
    "export_encoder": "needs torch: tests/unit/retriever/training",
    "hold_out": "data that is not here: tests/flows/test_evaluate.py",
    "make_playground_data": "writes into the checkout: tests/unit/playground",
    "make_program_requests": "writes into the checkout: tests/flows/test_program_requests.py",
    "mine_solutions": "minutes on a whole store: tests/flows/test_mine_solutions.py",
    "reindex": "needs an embedding service, or an encoder: tests/flows/test_another_encoder.py",
    "restore": "needs a backup: tests/flows/test_backup.py",
    "serve": "goes on until Ctrl-C: tests/server",
    "serve_playground": "goes on until Ctrl-C: it runs below every flow",
    "train_reranker": "needs a training: tests/unit/retriever/training",
    "train_retriever": "needs torch: tests/unit/retriever/training",
    "up": "goes on until Ctrl-C: tests/flows/test_wheel.py",
    "write_examples": "needs a model, or minutes: tests/flows/test_write_examples.py",
}
"""The commands of examples that do not run here, each with the reason and what runs it elsewhere."""
WITHOUT_DATA = ("/documents", "/data/backup.jsonl.gz", "restbench", "graphqlrestbench", "nestful", "--ray", "tools.jsonl.gz", "…", "llm", "--repair", "restbench/tmdb_oas.json")  # fmt: skip
"""An example of a command that runs is left out where it names one of these, which are not here."""
ELSEWHERE = {"docs/python.md": "test_python_library.py", "docs/langchain.md": "test_langchain_agents.py"}
"""Pages whose Python examples run one after the other, by the test that runs them."""
OURS = ("playground/", "scripts/", "tests/", "docs/")


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> list[Called]:
    return called(SHELL, tmp_path_factory.mktemp("checkout"))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[str, Path]]:
    """Of a playground that runs, and a folder with what readers have: documents, stores under the names of the examples."""
    folder = tmp_path_factory.mktemp("reader")
    with running_playground() as address:
        store = built(folder, address).store
        store.rename(folder / "my-store")
        whole = json.loads((folder / CATALOGUE).read_bytes())
        few = {**whole, "paths": dict(list(whole["paths"].items())[:3])}
        for name in ("petstore.yaml", "api.json"):
            (folder / name).write_text(json.dumps(few))
        (folder / ".footpath").mkdir()
        for name in ("S", "store", ".footpath/playground", ".footpath/store"):
            (folder / name).symlink_to(folder / "my-store")
        shutil.copytree(folder / "my-store", folder / "old")
        yield address, folder


def app_of(name: str) -> typer.Typer:
    """By its script or by what it is called behind ``footpath``."""
    module = import_script(module_of(name))
    if (whole := getattr(module, "app", None)) is None:
        whole = typer.Typer(add_completion=False)
        whole.command(name)(module.main)
    return whole


def module_of(name: str) -> str:
    return COMMANDS[name].script if name in COMMANDS else name


def parse(command: TyperCommand | TyperGroup, words: list[str]) -> None:
    """By the command's own parser. Of arguments that the page leaves out (…), the names of options alone count."""
    if "…" in words:
        known = {option for one in command.params for option in one.opts}
        assert {word for word in words if word.startswith("--")} <= known
        return
    if isinstance(command, TyperGroup):
        context = command.make_context(command.name or "", list(words))
        chosen = command.get_command(context, words[0])
        assert isinstance(chosen, TyperCommand), f"no command {words[0]}"
        parse(chosen, words[1:])
    else:
        command.make_context(command.name or "", list(words))


def test_commands_and_their_options_are_those_of_the_examples(commands: list[Called]) -> None:
    ours = [(one, *one.script) for one in commands if one.script]
    assert len(ours) > 60
    for one, name, words in ours:
        command = typer.main.get_command(app_of(name))
        assert isinstance(command, TyperCommand | TyperGroup)
        try:
            parse(command, list(words))
        except Exception as error:
            error.add_note(str(one))
            raise


def test_files_that_examples_name_are_there(commands: list[Called]) -> None:
    gone = [str(one) for one in commands for word in one.words if word.startswith(OURS) and not (ROOT / word).exists()]
    assert not gone, "\n".join(gone)


def test_settings_that_examples_name_are_settings(commands: list[Called]) -> None:
    known = {f"FOOTPATH_{name.upper()}" for name in Settings.model_fields}
    named = {name for one in commands for name in one.settings if not name.startswith("FOOTPATH_SECRET_")}
    assert {"FOOTPATH_MODEL_URL", "FOOTPATH_MCP_COMMANDS", "FOOTPATH_STORE"} <= named
    assert named <= known


def test_other_programs_find_what_they_are_told(commands: list[Called]) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for one in commands:
        program, *words = one.words
        if program == "make":
            assert {word for word in words if "=" not in word} <= targets, one
        if program == "docker":
            names = (
                [one.container[0]] if one.container else words[words.index("--wait") + 1 :] if "--wait" in words else []
            )
            assert set(names) <= set(services), one
        if program == "pip":
            assert set(re.findall(r"\[(\w+)\]", " ".join(words))) <= set(extras), one


def test_the_requests_of_examples_are_routes_with_the_fields_that_they_send(commands: list[Called]) -> None:
    document = create_app().openapi()
    asked = [one for one in commands if one.words[0] == "curl" and any("/api/v1/" in word for word in one.words)]
    assert len(asked) > 8
    for one in asked:
        words = one.words
        path = next(word for word in words if word.startswith("http")).partition("127.0.0.1:8000")[2]
        body = words[words.index("--json") + 1] if "--json" in words else None
        sends = body or "--data-binary" in words
        method = words[words.index("-X") + 1] if "-X" in words else "POST" if sends else "GET"
        fitting = [known for known in document["paths"] if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", known), path)]
        route = min(fitting, key=lambda known: known.count("{"), default="")
        assert method.lower() in document["paths"].get(route, {}), one
        if body:
            schema = document["paths"][route][method.lower()]["requestBody"]["content"]["application/json"]["schema"]
            name = re.findall(r"#/components/schemas/(\w+)", json.dumps(schema))[0]
            assert set(json.loads(body)) <= set(document["components"]["schemas"][name]["properties"]), one


def test_each_command_of_an_example_runs_or_has_its_reason(commands: list[Called]) -> None:
    used = {module_of(one.script[0]) for one in commands if one.script}
    assert used == (set(RUN) & used) | set(NOT_RUN)
    assert set(RUN) <= used
    for reason in NOT_RUN.values():
        for path in re.findall(r"tests/[\w/.*]+", reason):
            assert list(ROOT.glob(path)), path


def test_what_is_cheap_runs(commands: list[Called], place: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the pages, in one folder, each command with the exit code that it promises for success, or, of a question that the store cannot
    serve, for no answer."""
    address, folder = place
    monkeypatch.chdir(folder)
    (folder / "playground").symlink_to(ROOT / "playground")
    ran: list[str] = []
    for one in commands:
        name, words = one.script or ("", ())
        if module_of(name) not in RUN or set(words) & set(WITHOUT_DATA):
            continue
        if "RUN" in words:
            with Footpath.open(folder / "my-store", allow_hosts={address.removeprefix("http://")}) as footpath:
                run = footpath.ask(WEATHER, policy="offline").run
            words = tuple(run if word == "RUN" else word for word in words)
        with monkeypatch.context() as given:
            given.setenv("FOOTPATH_ALLOW_HOSTS", address.removeprefix("http://"))
            done = CliRunner().invoke(app_of(name), list(words))
        allowed = {0, 1} if module_of(name) == "ask" else {0}
        assert done.exit_code in allowed, f"{one}\n{done.output[-1500:]}\n{done.exception!r}"
        ran.append(module_of(name))
    assert set(ran) == set(RUN)
    assert len(ran) >= 14


def python_of(page: str) -> list[Example]:
    return [one for one in PYTHON if one.page == page]


def test_each_page_with_python_has_its_test() -> None:
    here = {"docs/export.md", "docs/offers.md", "docs/playground.md", "docs/programs.md"}
    assert {one.page for one in PYTHON} == here | set(ELSEWHERE)
    for page, test in ELSEWHERE.items():
        assert f'"{Path(page).name}"' in (Path(__file__).parent / test).read_text(encoding="utf-8")


async def run_awaiting(text: str, names: dict[str, Any]) -> Any:
    """As a program, or a notebook, has it: with ``await`` outside of functions; what the last expression comes to."""
    tree = ast.parse(text)
    last = tree.body[-1]
    assert isinstance(last, ast.Expr)
    tree.body[-1] = ast.copy_location(ast.Assign([ast.Name("said", ast.Store())], last.value), last)
    names["asyncio"] = asyncio
    made = eval(compile(ast.fix_missing_locations(tree), "example", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    if inspect.isawaitable(made):
        await made
    return names["said"]


def test_offers_in_code(place: tuple[str, Path]) -> None:
    [example] = python_of("docs/offers.md")

    async def told() -> Any:
        async with open_container(store=place[1] / "my-store") as container:
            return await run_awaiting(example.text, {"container": container})

    rows = asyncio.run(told())
    assert len(rows) == 16
    assert all(isinstance(reason, str) for _, _, reason, _ in rows)


async def test_the_program_gives_what_it_says() -> None:
    """Its functions stand in for a service of scholars."""
    [example] = python_of("docs/programs.md")
    cited = {"a": {"name": "Ada", "citations": 3}, "b": {"name": "Bo", "citations": 7}}

    async def search_people(*, name: str) -> dict[str, Any]:
        return {"people": [{"id": name}]}

    async def get_colleagues(*, person_id: str) -> dict[str, Any]:
        assert person_id == "Henrik Grimaldo"
        return {"people": [{"id": "a"}, {"id": "b"}]}

    async def get_person(*, person_id: str) -> dict[str, Any]:
        return cited[person_id]

    names = {"search_people": search_people, "get_colleagues": get_colleagues, "get_person": get_person}
    assert await run_awaiting(example.text, names) == {"answered": "yes", "answer": "Bo, cited 7 times"}


def test_an_operation_of_the_playground_is_declared_as_its_page_says() -> None:
    [example] = python_of("docs/playground.md")
    router = APIRouter()
    names: dict[str, Any] = {"router": router, "fails": fails, "busy": busy, "refusals": refusals}
    exec(compile(example.text + "async def get_x() -> None: ...\n", example.place, "exec"), names)
    app = FastAPI()
    app.include_router(router)
    assert {"200", "429"} <= set(app.openapi()["paths"]["/x"]["get"]["responses"])


def test_exported_files_look_as_their_page_shows(place: tuple[str, Path]) -> None:
    """What a line leaves out (…) may be anything."""
    address, folder = place
    with Footpath.open(folder / "my-store", allow_hosts={address.removeprefix("http://")}) as footpath:
        answer = footpath.ask(WEATHER, policy="offline")
        made = {form: footpath.export(answer, form) for form in ("python", "mcp")}
    for example, text in zip(python_of("docs/export.md"), made.values(), strict=False):
        for line in example.text.splitlines():
            pattern = ".*".join(re.escape(part) for part in line.split("…"))
            assert re.search(pattern, text, re.DOTALL), line


@pytest.mark.langchain
async def test_an_exported_node_runs_in_a_graph(place: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's third example, with the file that it imports; what it prints is on the page, too."""
    pytest.importorskip("langgraph")
    address, folder = place
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    monkeypatch.setenv("FOOTPATH_ALLOW_HOSTS", address.removeprefix("http://"))
    async with AsyncFootpath.open("my-store") as footpath:
        answer = await footpath.ask(WEATHER, policy="offline")
        (folder / "weather_node.py").write_text(await footpath.export(answer, "langgraph"))
    example = python_of("docs/export.md")[2]
    text = "\n".join(f"    {line}" for line in example.text.splitlines())
    names: dict[str, Any] = {"AsyncFootpath": AsyncFootpath}
    said: list[str] = []

    def printed(told: object) -> None:
        said.append(str(told))

    names["print"] = printed
    exec(compile(f"async def example():\n{text}\n", example.place, "exec"), names)
    await names["example"]()
    assert said[0].startswith("{'city': 'Tarnholm', 'answer': '7.3")
