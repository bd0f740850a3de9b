"""The demo: the playground's graph is built from its own catalogue, five requests are asked, the answers are checked."""

import shutil
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from agent.execution.approval import AllowChangesApprover
from agent.run import run
from domain.errors import UnavailableError
from domain.event import Event
from graph.import_summary import ImportSummary
from playground.application import DEFAULT_PORT
from playground.child import running_playground
from playground.demo_check import Verdict, judge
from playground.demo_requests import demo_requests
from playground.record import CATALOGUE, DATA
from playground.serve import bind
from wiring.container import Container, open_container
from wiring.runs import build_budget, build_run_deps
from wiring.settings import Settings
from wiring.store_build import BuildOptions, build
from wiring.store_folder import StoreFolder

Show = Callable[[Event], None]


@contextmanager
def demo_playground() -> Generator[str]:
    """A running playground: on its usual port where that is free, so that one can go on with it, else on any.

    Another program may take the port between the look and the start: then, too, any port will do.
    """
    with ExitStack() as started:
        try:
            address = started.enter_context(running_playground(_port()))
        except UnavailableError:
            address = started.enter_context(running_playground(0))
        yield address


async def build_demo(address: str, store: Path) -> ImportSummary:
    """Build the store anew from the catalogue at ``address`` and the sample trajectories.

    Raises:
        UnavailableError: the folder holds something else, or the playground does not answer.
    """
    if StoreFolder(store).stamp.is_file():
        shutil.rmtree(store)
    with TemporaryDirectory() as folder:
        catalogue = Path(folder) / CATALOGUE
        catalogue.write_bytes(await catalogue_at(address))
        options = BuildOptions(tools=(catalogue,), trajectories=(DATA,), store=store)
        _, summary = await build(options, quietly, _settings(address, store))
    return summary


@asynccontextmanager
async def opened(address: str, store: Path) -> AsyncGenerator[Container]:
    """The built store, allowed to call the playground."""
    async with open_container(_settings(address, store), store) as container:
        yield container


async def ask_all(container: Container, view: Callable[[], Show]) -> list[Verdict]:
    """Ask the five requests one after the other; ``view`` makes what shows the events of one, as they happen."""
    verdicts: list[Verdict] = []
    executor = await container.open_executor("http")
    for request in demo_requests():
        events: list[Event] = []
        show = view()
        approver = AllowChangesApprover(container.settings.allow_hosts)
        deps = await build_run_deps(container, "offline", executor, "dfs", approver=approver)
        async for record in run(request.request, deps, build_budget(container)):
            events.append(record.event)
            show(record.event)
        verdicts.append(judge(request, events))
    return verdicts


def host_of(address: str) -> str:
    """``host:port``, as the setting ``FOOTPATH_ALLOW_HOSTS`` wants it."""
    return httpx.URL(address).netloc.decode()


def _settings(address: str, store: Path) -> Settings:
    return Settings(store=store, allow_hosts=frozenset({host_of(address)}))


async def catalogue_at(address: str) -> bytes:
    """The OpenAPI document of what runs there."""
    try:
        async with httpx.AsyncClient(base_url=address, timeout=10, trust_env=False) as client:
            return (await client.get("/openapi.json")).raise_for_status().content
    except httpx.HTTPError as error:
        raise UnavailableError(
            f"the playground at {address} does not answer ({error}); start the demo again"
        ) from error


def quietly(stage: str, done: int, total: int | None) -> None:
    """No progress bar: it takes two seconds."""
    del stage, done, total


def _port() -> int:
    try:
        bind("127.0.0.1", DEFAULT_PORT).close()
    except UnavailableError:
        return 0
    return DEFAULT_PORT
