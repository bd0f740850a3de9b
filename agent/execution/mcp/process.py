"""Streams to a server that this process starts: one message per line on its standard input and output.

The server is started without a shell, in a process group of its own, with a bare environment and limits on memory, CPU
time and files. It ends with the session, and so does everything that it started.
"""

import asyncio
import errno
import logging
import os
import signal
import stat
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from agent.execution.mcp.connection import Streams
from agent.execution.mcp.endpoint import Endpoint
from agent.execution.mcp.exchange import Exchanges, id_of
from agent.execution.mcp.parameters import Command
from agent.execution.mcp.strays import MARK, end_strays
from agent.execution.redaction import Redactor

_START = str(Path(__file__).with_name("bounded_start.py"))
BARE = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
"""The whole environment of a command, apart from what an administrator and the caller's keys add."""
_PATIENCE = 2.0
"""Seconds to end by itself once its input is closed, and again after SIGTERM."""
_MOST_LINES = 200
_LONGEST_LINE = 500
_log = logging.getLogger(__name__)

_Heard = MemoryObjectSendStream[SessionMessage | Exception]
_Told = MemoryObjectReceiveStream[SessionMessage]


@asynccontextmanager
async def over_process(endpoint: Endpoint, limit: int, exchanges: Exchanges) -> AsyncGenerator[Streams]:
    """Start the endpoint's command for this block and yield the streams to it.

    ``limit`` is the number of bytes of one message; a longer one ends the stream.

    Raises:
        OSError: the command cannot be started.
    """
    command = endpoint.command
    assert command is not None  # noqa: S101  endpoint_of gave it one
    token = token_hex(16)
    process = await asyncio.create_subprocess_exec(
        *await asyncio.to_thread(_bounded, command), stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=command.folder, start_new_session=True,
        limit=limit, env={**BARE, **command.environment, **endpoint.environment, MARK: token},
    )  # fmt: skip
    heard_in, heard = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    told, told_out = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [
        asyncio.create_task(_hear(process, heard_in, exchanges, limit)),
        asyncio.create_task(_tell(process, told_out, exchanges)),
        asyncio.create_task(_log_errors(process, endpoint.place, endpoint.redactor)),
    ]
    try:
        yield heard, told
    finally:
        # Shielded: a cancelled run must not leave the server running.
        await asyncio.shield(_end(process, token))
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        await _drain(process)
        for stream in (heard_in, heard, told, told_out):
            stream.close()


def _bounded(command: Command) -> tuple[str, ...]:
    """Build the command line that applies the limits and then becomes the command.

    Raises:
        OSError: there is no such program, or it cannot be executed.
    """
    if not stat.S_ISREG(Path(command.words[0]).stat().st_mode) or not os.access(command.words[0], os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), command.words[0])
    bounds = (str(command.memory), str(command.cpu), str(command.file))
    return (sys.executable, "-I", "-S", "-B", _START, *bounds, *command.words)


async def _hear(process: Process, heard: _Heard, exchanges: Exchanges, limit: int) -> None:
    """Pass on the messages that the server writes; at the end, fail the exchanges that are still open."""
    assert process.stdout is not None  # noqa: S101  it is a pipe
    why = "the server ended before it answered"
    try:
        async with heard:
            while line := await process.stdout.readline():
                try:
                    message = types.JSONRPCMessage.model_validate_json(line)
                except ValidationError:
                    _log.debug("a server wrote a line that is no message")
                    continue
                await heard.send(SessionMessage(message))
    except ValueError:  # raised for a line beyond the limit; where the next message begins is then unknown
        why = f"its answer is longer than {limit} bytes"
    except anyio.BrokenResourceError:
        why = "the session was closed"
    finally:
        for exchange in exchanges.values():
            exchange.failed(why)


async def _tell(process: Process, told: _Told, exchanges: Exchanges) -> None:
    """Write the outgoing messages to the server, and mark their exchanges as sent."""
    assert process.stdin is not None  # noqa: S101  it is a pipe
    try:
        async with told:
            async for one in told:
                line = one.message.model_dump_json(by_alias=True, exclude_none=True).encode()
                number = id_of(line)
                if number is not None and number in exchanges:
                    exchanges[number].sent = True  # before writing: a failed write may still have delivered it
                process.stdin.write(line + b"\n")
                await process.stdin.drain()
    except OSError as error:
        _log.debug("a server reads no further (%s)", error)


async def _log_errors(process: Process, place: str, redactor: Redactor) -> None:
    """Log the first lines of standard error without any keys, and read and drop the rest."""
    assert process.stderr is not None  # noqa: S101  it is a pipe
    rest, lines = b"", 0
    while chunk := await process.stderr.read(8192):
        *whole, rest = (rest + chunk).split(b"\n")
        if len(rest) > 8192:
            whole, rest = [*whole, rest], b""
        for line in whole[: max(0, _MOST_LINES - lines)]:
            text = redactor.clean(line.decode(errors="replace"), cut=True)[:_LONGEST_LINE]
            _log.info("%s writes: %s", place, "".join(char if char.isprintable() else " " for char in text))
        lines += len(whole)


async def _end(process: Process, token: str) -> None:
    """Close the server's input, ask it to end, kill it, and kill everything that it started in any process group."""
    if process.stdin is not None:
        process.stdin.close()
    for asked in (None, signal.SIGTERM, signal.SIGKILL):
        if asked is not None:
            _signal(process, asked)
        try:
            async with asyncio.timeout(_PATIENCE):
                await process.wait()
            break
        except TimeoutError:
            continue
    _signal(process, signal.SIGKILL)  # the group: children that it left behind
    await asyncio.to_thread(end_strays, token)


async def _drain(process: Process) -> None:
    """Read the remaining output to its end, so that the pipes are closed."""
    try:
        async with asyncio.timeout(_PATIENCE):
            for pipe in (process.stdout, process.stderr):
                while pipe is not None and await pipe.read(65_536):
                    continue
    except TimeoutError:
        _log.warning("a server has left a process behind that holds its output open")


def _signal(process: Process, number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        _log.debug("a server had ended already")
