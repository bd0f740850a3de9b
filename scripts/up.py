"""Starts all of Footpath on this machine: the server and the chat page, over a store of yours, over the servers of the settings, or over the playground, which it starts."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import typer
from _demo import build_demo, host_of
from _processes import ROOT, Children, Stopped, children
from _streamlit import LOOPBACK, free_port, page_command, page_environment, web_address

from domain.errors import UnavailableError, UsageError
from wiring.settings import Settings, read_settings
from wiring.store_folder import StoreFolder

_BUILT_FOR = "playground.txt"
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104  # told apart, not listened on


def main(
    page_port: Annotated[int, typer.Option(help="Port of the page; 0 takes any that is free.")] = 8501,
    server_port: Annotated[int, typer.Option(help="Port of the server; 0: any.")] = 8000,
    store: Annotated[
        Path | None,
        typer.Option(
            help="Folder of a store of yours, made empty where it is new; without one, the store on the servers that the settings name, else the playground is started and its graph built."
        ),
    ] = None,
    playground_port: Annotated[int, typer.Option(help="Port of the playground; 0: any.")] = 8765,
    home: Annotated[Path, typer.Option(help="Folder of the graph, built where it is missing.")] = Path(".footpath/up"),
    host: Annotated[str, typer.Option(help="Address on which server and page listen.")] = LOOPBACK,
) -> None:
    """Run until Ctrl-C; a line with the address of each as it answers. One that ends is started again. Exit codes: 1 one of them ended again and again, 2 a wrong setting, 3 one did not start."""
    try:
        _free(server_port, "server")
        _free(page_port, "page")
        with children() as started:
            over = _choose_store(started, store, playground_port, home)
            _start(started, page_port, server_port, over, host)
            ended = started.watch()
            print(
                f"the {ended} is not started again, and the others are stopped, too: see its messages above for the reason, mend that, and start all again",
                file=sys.stderr,
            )
            raise typer.Exit(1)
    except (UsageError, UnavailableError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2 if isinstance(error, UsageError) else 3) from error
    except (KeyboardInterrupt, Stopped):
        print("all stopped", file=sys.stderr)


def _choose_store(started: Children, store: Path | None, playground_port: int, home: Path) -> dict[str, str]:
    """Return what the server is told of its store; made or built where it lies in a folder. Raises ``UsageError`` and ``UnavailableError``."""
    settings = read_settings()
    if settings.graph_url or settings.vector_url:
        return _serve_shared(settings, store)
    return _own(store) if store is not None else _playground(started, playground_port, home)


def _serve_shared(settings: Settings, store: Path | None) -> dict[str, str]:
    """Say which stores are served: the server goes by the settings, so that what was made in a folder here would lie beside them."""
    named = " and ".join(f"FOOTPATH_{one.upper()}" for one in ("graph_url", "vector_url") if getattr(settings, one))
    if store is not None:
        raise UsageError(
            f"--store {store} would not be served: {named} name the servers that hold the store. Leave --store out to serve "
            f"what they hold; or take {named} out of the environment and .env to serve the folder"
        )
    if not settings.graph_url:
        StoreFolder(settings.store).open(create=False)
    graph, vectors = settings.graph_url or settings.store, settings.vector_url or settings.store
    told = "The playground is not started; add an API on the page, under Sources, or with scripts/build_graph.py"
    print(f"serving the store of the settings: the graph in {graph}, the vectors in {vectors}. {told}", file=sys.stderr)
    return {}


def _own(store: Path) -> dict[str, str]:
    """What the server is told of a store of one's own, made where there is none. ``UnavailableError``: the folder holds something else."""
    folder = StoreFolder(store)
    new = not folder.stamp.exists()
    folder.open(create=True)
    if new:
        print(f"made an empty store in {store}: add an API on the page, under Sources", file=sys.stderr)
    return {"FOOTPATH_STORE": str(store.resolve())}


def _playground(started: Children, port: int, home: Path) -> dict[str, str]:
    """What the server is told of the playground, which is started."""
    port = _free(port, "playground")
    allowed = read_settings().allow_hosts
    script = str(ROOT / "scripts" / "serve_playground.py")
    playground = _announced(started, "playground", [script, "--port", str(port)], {})
    _say("playground", playground)
    hosts = ",".join(sorted({*allowed, host_of(playground)}))
    return {"FOOTPATH_STORE": str(_built(playground, home)), "FOOTPATH_ALLOW_HOSTS": hosts}


def _start(started: Children, page_port: int, server_port: int, environment: dict[str, str], host: str) -> None:
    script = str(ROOT / "scripts" / "serve.py")
    # What listens everywhere is asked on loopback, from where the server believes the page without a setting.
    reached = LOOPBACK if host in _EVERYWHERE else host
    port = _free(server_port, "server")
    _say("server", _announced(started, "server", [script, "--port", str(port), "--host", host], environment))
    server = web_address(reached, port)
    port = _free(page_port, "page")
    health = f"{web_address(reached, port)}/_stcore/health"
    started.answering("page", page_command(port, host), page_environment(server), health)
    _say("page", web_address(host, port))


def _free(port: int, name: str) -> int:
    """``port``, or for 0 one that is free, which stays the same when its program is started again. ``UnavailableError``: it is taken, with the option by which another is chosen here."""
    try:
        return free_port(port)
    except UnavailableError as error:
        told, _, other = str(error).partition("--port ")
        option = f"--{name}-port {other}"
        raise UnavailableError(
            told + (f'make up ARGS="{option}"' if os.environ.get("MAKELEVEL") else option)
        ) from error


def _announced(started: Children, name: str, command: list[str], environment: dict[str, str]) -> str:
    """As it is started; where it does not, how its port is chosen here."""
    try:
        return started.announced(name, command, environment)
    except UnavailableError as error:
        raise UnavailableError(f"{error}; another port for it is chosen here with --{name}-port") from error


def _built(playground: str, home: Path) -> Path:
    """The graph's folder: as it is, with what was learnt, where it was built for this address; else built anew."""
    store, note = home / "store", home / _BUILT_FOR
    known = note.read_text(encoding="utf-8").strip() if note.is_file() else ""
    if known != playground or not StoreFolder(store).stamp.is_file():
        print("building the playground's graph …", file=sys.stderr)
        asyncio.run(build_demo(playground, store))
        note.write_text(f"{playground}{os.linesep}", encoding="utf-8")
    return store


def _say(name: str, address: str) -> None:
    print(f"{name}: {address}", flush=True)


if __name__ == "__main__":
    typer.run(main)
