"""What a server says and is told that this process starts itself: by its input and output, a line a message.

Started without a shell, in a group of its own, bounded in memory, computing and files, with a bare environment; it is ended with the session, and all that it
started with it.
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
"""All that a command sees of an environment, beside what an administrator and the caller's keys give it."""
_PATIENCE = 2.0
"""Seconds that it has to end by itself, once its input is closed, and again once it is asked to."""
_MOST_LINES = 200
_LONGEST_LINE = 500
_log = logging.getLogger(__name__)

_Heard = MemoryObjectSendStream[SessionMessage | Exception]
_Told = MemoryObjectReceiveStream[SessionMessage]


@asynccontextmanager
async def over_process(endpoint: Endpoint, limit: int, exchanges: Exchanges) -> AsyncGenerator[Streams]:
    """Streams to a command that is started for this block. ``limit``: bytes of one message; a longer one ends it. Raises ``OSError``."""
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
        await asyncio.shield(_end(process, token))
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        await _drain(process)
        for stream in (heard_in, heard, told, told_out):
            stream.close()


def _bounded(command: Command) -> tuple[str, ...]:
    """What is started: it binds itself, and becomes the command. ``OSError``: there is no such program."""
    if not stat.S_ISREG(Path(command.words[0]).stat().st_mode) or not os.access(command.words[0], os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), command.words[0])
    bounds = (str(command.memory), str(command.cpu), str(command.file))
    return (sys.executable, "-I", "-S", "-B", _START, *bounds, *command.words)


async def _hear(process: Process, heard: _Heard, exchanges: Exchanges, limit: int) -> None:
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
    except ValueError:  # what a reader raises for a line beyond its limit; where the next message begins nobody knows
        why = f"its answer is longer than {limit} bytes"
    except anyio.BrokenResourceError:
        why = "the session was closed"
    finally:
        for exchange in exchanges.values():
            exchange.failed(why)


async def _tell(process: Process, told: _Told, exchanges: Exchanges) -> None:
    assert process.stdin is not None  # noqa: S101  it is a pipe
    try:
        async with told:
            async for one in told:
                line = one.message.model_dump_json(by_alias=True, exclude_none=True).encode()
                number = id_of(line)
                if number is not None and number in exchanges:
                    exchanges[number].sent = True
                process.stdin.write(line + b"\n")
                await process.stdin.drain()
    except OSError as error:
        _log.debug("a server reads no further (%s)", error)


async def _log_errors(process: Process, place: str, redactor: Redactor) -> None:
    """What it writes to its standard error, line by line, so many lines and no key of anyone's; the rest is read and dropped."""
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
    """Close its input, ask it to end, and end it: it, and all that it started, in whatever group that is by now."""
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
    _signal(process, signal.SIGKILL)  # what it started and left behind
    await asyncio.to_thread(end_strays, token)


async def _drain(process: Process) -> None:
    """Read what is left in its pipes, to their ends, so that they are closed."""
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
