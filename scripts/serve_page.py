"""Starts the chat page alone, beside a server that runs: Streamlit with the options that the page needs."""

import os
import sys
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import typer
from _streamlit import LOOPBACK, free_port, page_command, page_environment, web_address

from domain.errors import UnavailableError
from ui import SERVER_ADDRESS


def main(
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes any that is free.")] = 8501,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = LOOPBACK,
    server: Annotated[str, typer.Option(envvar=SERVER_ADDRESS, help="Where the server is.")] = "http://127.0.0.1:8000",
) -> None:
    """Serve the page until Ctrl-C; the server may start before it or after it. Exit code 3: the port cannot be used."""
    try:
        port = free_port(port, host)
    except UnavailableError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(3) from error
    print(f"page: {web_address(host, port)}", flush=True)
    # In place of this process, so that whoever started it stops Streamlit itself.
    command = [sys.executable, *page_command(port, host)]
    os.execve(sys.executable, command, os.environ | page_environment(server))  # noqa: S606  # our own program


if __name__ == "__main__":
    typer.run(main)
