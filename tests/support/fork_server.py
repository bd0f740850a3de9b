"""The process that commands of tests are forked from: it has imported what most of them need, and does nothing else.

It is told one command after the other over a socket: its arguments, folder and variables, with its standard streams and a pipe for what
becomes of it. Of each a process is made that goes on as Python's own start would: with the script as ``__main__``, to the interpreter's end.
"""

import gc
import json
import os
import runpy
import signal
import socket
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from time import tzset
from typing import Any, NoReturn

LARGEST = 1 << 20
"""Bytes of what is told of one command."""
PACKAGES = (
    *(
        "server.serve",
        "server.storage.migration",
        "wiring.container",
        "wiring.store_build",
        "wiring.runs",
        "agent.run",
        "footpath",
    ),
    *("agent.execution.http", "agent.llm.client.langchain_model", "langchain_openai", "agent.programs.worker_pool"),
    *(
        "graph.backends.sqlite_graph",
        "retriever.backends.edge",
        "retriever.backends.edge_folder",
        "retriever.embedders.onnx_embedder",
    ),
    *("offline.policy", "offline.template_answer", "offline.solution_reuse", "offline.sentences.author"),
    *("wiring.run_history", "wiring.ask", "wiring.program_export", "playground.serve"),
    *(
        "typer.main",
        "rich.console",
        "rich.table",
        "orjson",
        "numpy",
        "bm25s",
        "tokenizers",
        "qdrant_edge",
        "threadpoolctl",
    ),
    *(
        "aiosqlite",
        "sqlalchemy.dialects.sqlite.aiosqlite",
        "alembic.command",
        "uvicorn.lifespan.on",
        "httpcore",
        "h2.connection",
    ),
)
"""What is imported once. Scripts and their own modules are not: each command reads them anew."""


def main(control: socket.socket) -> None:
    """Fork for each command, until whoever tells them is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # those that watch are not waited for
    while True:
        told, streams, _, _ = socket.recv_fds(control, LARGEST, 4)
        if not told:
            return
        if os.fork() == 0:
            control.close()
            if (command := _watched(told, streams)) is None:
                os._exit(0)
            _go_on(command, streams)
        for stream in streams:
            os.close(stream)


def _watched(told: bytes, streams: Sequence[int]) -> dict[str, Any] | None:
    """The command, in the process that is to be it; nothing in the one that waited for it and told its number and how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if (number := os.fork()) == 0:
        os.close(streams[3])
        return json.loads(told)
    for stream in streams[:3]:
        os.close(stream)
    with suppress(BrokenPipeError):  # nobody wants to know any more
        os.write(streams[3], f"{number}\n".encode())
    _, status = os.waitpid(number, 0)
    with suppress(BrokenPipeError):
        os.write(streams[3], f"{os.waitstatus_to_exitcode(status)}\n".encode())
    return None


def _go_on(command: dict[str, Any], streams: Sequence[int]) -> NoReturn:
    """Be the command: its streams, variables, folder, filters of warnings and arguments, then its script."""
    for number, stream in enumerate(streams[:3]):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (_stream(number) for number in range(3))
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    os.environ.clear()
    os.environ.update(command["variables"])
    tzset()
    os.chdir(command["folder"])
    for action in command["warnings"]:
        sys.warnoptions.append(action)
        warnings.simplefilter(action)
    script, *_ = sys.argv = command["arguments"]
    sys.path[0] = str(Path(script).resolve().parent)
    gc.enable()
    runpy.run_path(script, run_name="__main__")
    sys.exit()


def _stream(number: int) -> Any:
    """As Python opens it: what is told of mistakes is never held back."""
    errors = "backslashreplace" if number == 2 else "strict"
    lines = number == 2 or os.isatty(number)
    return open(
        number,
        "r" if number == 0 else "w",
        encoding="utf-8",
        errors=errors,
        buffering=1 if lines else -1,
        closefd=False,
    )


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])
    gc.disable()
    for package in PACKAGES:
        import_module(package)
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as told_by:
        main(told_by)
