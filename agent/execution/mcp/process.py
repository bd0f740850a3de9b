"""Streams to a server that this process starts, with one message per line on its standard input and output.

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

from agent.execution.mcp.connection import PendingExchanges, Streams, parse_request_id
from agent.execution.mcp.endpoint import McpEndpoint
from agent.execution.mcp.parameters import ServerCommand
from agent.execution.redaction import Redactor

_log = logging.getLogger(__name__)

SESSION_VARIABLE = "STARTED_FOR_SESSION"
"""Environment variable of a started server, inherited by its descendants; its value is unique to the session."""
_MAX_KILL_ROUNDS = 5
"""Most rounds of killing; each one kills processes that were started during the search of the one before."""


def kill_stray_processes(token: str) -> int:
    """Kill all processes whose environment holds this session's token, and return their number.

    Processes are found through ``/proc``, where it exists, unless they have cleared their environment.
    """
    ended_count = 0
    for _ in range(_MAX_KILL_ROUNDS):
        processes = _find_marked_processes(f"{SESSION_VARIABLE}={token}".encode())
        for process in processes:
            _kill_process(process)
        ended_count += len(processes)
        if not processes:
            break
    return ended_count


def _find_marked_processes(variable: bytes) -> list[int]:
    return [
        int(place.name) for place in Path("/proc").glob("[0-9]*") if variable in _read_environment(place).split(b"\0")
    ]


def _read_environment(place: Path) -> bytes:
    try:
        return (place / "environ").read_bytes()
    except OSError:  # it has ended, or is another user's
        return b""


def _kill_process(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:  # it has ended meanwhile
        return


_START_SCRIPT = str(Path(__file__).with_name("bounded_start.py"))
BASE_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
"""Environment of a command, to which only the administrator's variables and the caller's keys are added."""
_GRACE_SECONDS = 2.0
"""Seconds that a server has to end once its input is closed, and again after SIGTERM."""
_MAX_LOG_LINES = 200
_MAX_LOG_LINE_CHARS = 500

_IncomingSink = MemoryObjectSendStream[SessionMessage | Exception]
_OutgoingSource = MemoryObjectReceiveStream[SessionMessage]


@asynccontextmanager
async def open_process_streams(
    endpoint: McpEndpoint, limit: int, exchanges: PendingExchanges
) -> AsyncGenerator[Streams]:
    """Start the endpoint's command, yield the streams to it, and end it at the end of the block.

    ``limit`` is the most bytes of one message; a longer one ends the stream.

    Raises:
        OSError: the command cannot be started.
    """
    command = endpoint.command
    assert command is not None  # noqa: S101  the caller chose this function by it
    token = token_hex(16)
    process = await asyncio.create_subprocess_exec(
        *await asyncio.to_thread(_build_command_line, command), stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=command.folder, start_new_session=True,
        limit=limit, env={**BASE_ENVIRONMENT, **command.environment, **endpoint.environment, SESSION_VARIABLE: token},
    )  # fmt: skip
    incoming_sink, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, outgoing_source = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [
        asyncio.create_task(_read_messages(process, incoming_sink, exchanges, limit)),
        asyncio.create_task(_write_messages(process, outgoing_source, exchanges)),
        asyncio.create_task(_log_errors(process, endpoint.place, endpoint.redactor)),
    ]
    try:
        yield incoming, outgoing
    finally:
        # Shielded: a cancelled run must not leave the server running.
        await asyncio.shield(_end_process(process, token))
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        await _drain_pipes(process)
        for stream in (incoming_sink, incoming, outgoing, outgoing_source):
            stream.close()


def _build_command_line(command: ServerCommand) -> tuple[str, ...]:
    """Build the command line of a process that applies the limits and is then replaced by the command.

    Raises:
        OSError: there is no such program, or it cannot be executed.
    """
    if not stat.S_ISREG(Path(command.words[0]).stat().st_mode) or not os.access(command.words[0], os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), command.words[0])
    bounds = (str(command.memory), str(command.cpu), str(command.file))
    return (sys.executable, "-I", "-S", "-B", _START_SCRIPT, *bounds, *command.words)


async def _read_messages(process: Process, incoming: _IncomingSink, exchanges: PendingExchanges, limit: int) -> None:
    """Pass on the messages that the server writes; at the end, record a failure in all open exchanges."""
    assert process.stdout is not None  # noqa: S101  it is a pipe
    reason = "the server ended before it answered"
    try:
        async with incoming:
            while line := await process.stdout.readline():
                try:
                    message = types.JSONRPCMessage.model_validate_json(line)
                except ValidationError:
                    _log.debug("a server wrote a line that is no message")
                    continue
                await incoming.send(SessionMessage(message))
    except ValueError:  # a line beyond the limit; the start of the next message is then unknown
        reason = f"its answer is longer than {limit} bytes"
    except anyio.BrokenResourceError:
        reason = "the session was closed"
    finally:
        for exchange in exchanges.values():
            exchange.record_failure(reason)


async def _write_messages(process: Process, outgoing: _OutgoingSource, exchanges: PendingExchanges) -> None:
    """Write the outgoing messages to the server, and mark their exchanges as sent."""
    assert process.stdin is not None  # noqa: S101  it is a pipe
    try:
        async with outgoing:
            async for message in outgoing:
                line = message.message.model_dump_json(by_alias=True, exclude_none=True).encode()
                request_id = parse_request_id(line)
                if request_id is not None and request_id in exchanges:
                    exchanges[request_id].sent = True  # first: a failed write may have delivered it
                process.stdin.write(line + b"\n")
                await process.stdin.drain()
    except OSError as error:
        _log.debug("a server reads no further (%s)", error)


async def _log_errors(process: Process, place: str, redactor: Redactor) -> None:
    """Log the first lines of standard error without keys, and discard the rest."""
    assert process.stderr is not None  # noqa: S101  it is a pipe
    partial_line, line_count = b"", 0
    while chunk := await process.stderr.read(8192):
        *full_lines, partial_line = (partial_line + chunk).split(b"\n")
        if len(partial_line) > 8192:
            full_lines, partial_line = [*full_lines, partial_line], b""
        for line in full_lines[: max(0, _MAX_LOG_LINES - line_count)]:
            text = redactor.redact(line.decode(errors="replace"), truncated=True)[:_MAX_LOG_LINE_CHARS]
            _log.info("%s writes: %s", place, "".join(char if char.isprintable() else " " for char in text))
        line_count += len(full_lines)


async def _end_process(process: Process, token: str) -> None:
    """Close the server's input, then terminate and kill it, and kill everything that it started."""
    if process.stdin is not None:
        process.stdin.close()
    for signal_number in (None, signal.SIGTERM, signal.SIGKILL):
        if signal_number is not None:
            _signal_group(process, signal_number)
        try:
            async with asyncio.timeout(_GRACE_SECONDS):
                await process.wait()
            break
        except TimeoutError:
            continue
    _signal_group(process, signal.SIGKILL)  # children that it left behind in its group
    await asyncio.to_thread(kill_stray_processes, token)


async def _drain_pipes(process: Process) -> None:
    """Read the remaining output to its end, so that the pipes are closed."""
    try:
        async with asyncio.timeout(_GRACE_SECONDS):
            for pipe in (process.stdout, process.stderr):
                while pipe is not None and await pipe.read(65_536):
                    continue
    except TimeoutError:
        _log.warning("a server has left a process behind that holds its output open")


def _signal_group(process: Process, signal_number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, signal_number)
    except ProcessLookupError:
        _log.debug("a server had ended already")
