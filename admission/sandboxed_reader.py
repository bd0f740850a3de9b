"""Reading of untrusted OpenAPI documents and MCP listings in a process with limits on memory, time and output.

The worst that an input can do is to end that process. The tools get the category and tool set that the source was given, so that no document can name
the tool of another.
"""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from admission.limits import MIB, ReadLimits
from domain.errors import BrokenInputError, TooManyOperationsError
from domain.tool import ToolDoc, make_tool_id
from domain.tool_source import Finding, OperationChoice, OperationOutline
from graph.importers.mcp import McpListing, McpSource

_ROOT = Path(__file__).parents[__name__.count(".")]
"""The folder that our packages are imported from."""
_READERS = ThreadPoolExecutor(2, thread_name_prefix="reading")
"""Documents read at the same time: each may take as much memory as ``ReadLimits`` allows."""
_LINES_PER_TURN = 200
"""Lines processed before other tasks get their turn."""


@dataclass(frozen=True, slots=True)
class ImportedDocument:
    """Tools of a document."""

    tools: tuple[ToolDoc, ...]
    """In the document's order."""
    skipped: tuple[str, ...] = ()
    """Operations not imported, or only in part, each with the reason."""
    findings: tuple[Finding, ...] = ()
    """Findings on the document as a whole."""


async def read_document(
    data: bytes,
    *,
    category: str,
    toolset: str,
    base_url: str = "",
    address: str = "",
    operations: OperationChoice | None = None,
    limits: ReadLimits | None = None,
) -> ImportedDocument:
    """Read the tools of an OpenAPI 3 or Swagger 2 document, JSON or YAML.

    Args:
        data: The document, in UTF-8 or UTF-16.
        category: The category of all its tools.
        toolset: The tool set of all its tools.
        base_url: The base of servers given without a host. Without it, the document's own address is used, or the root of its host
            if the document names no servers.
        address: The address that the document was fetched from.
        operations: The operations to take; all by default.
        limits: The limits of the process.

    Raises:
        TooManyOperationsError: it lists more operations than allowed; some have to be chosen.
        BrokenInputError: it is not such a document, or exceeds a limit; the message says what to do.
    """
    limits = limits or ReadLimits()
    name = address or "the document"
    _check_size(data, limits, name)
    request = {
        "category": category,
        "toolset": toolset,
        "server": base_url,
        "address": address,
        "operations": (operations or OperationChoice()).model_dump(),
        "limits": asdict(limits),
    }
    reader = ReaderProcess(f"{__package__}.reading_process", orjson.dumps(request), data, limits)
    output_lines, last = await reader.read_output(name)
    return await _build_document(output_lines, last, name, (category, toolset))


async def read_outline(data: bytes, *, address: str = "", limits: ReadLimits | None = None) -> OperationOutline:
    """List the operations of a document, for choosing among them. Raises ``BrokenInputError`` as :func:`read_document`."""
    limits = limits or ReadLimits()
    name = address or "the document"
    _check_size(data, limits, name)
    request = orjson.dumps({"outline": True, "limits": asdict(limits)})
    (outline,), _ = await ReaderProcess(f"{__package__}.reading_process", request, data, limits).read_output(name)
    return OperationOutline.model_validate_json(outline)


def _check_size(data: bytes, limits: ReadLimits, name: str) -> None:
    if len(data) > limits.document:
        raise BrokenInputError(
            f"has {len(data) / MIB:.1f} MiB, more than the {limits.document / MIB:.0f} MiB that a source's document may have"
            " (FOOTPATH_SOURCE_BYTES); give a smaller one, with the operations that are needed",
            file=name,
        )


class ReaderProcess:
    """Process of our own code that reads one untrusted input and limits itself."""

    def __init__(self, module: str, request: bytes, data: bytes, limits: ReadLimits) -> None:
        self._module = module
        self._input = len(request).to_bytes(4, "big") + request + data
        self.limits = limits
        self.overdue = False
        self.overflowed = False
        self._ended = False
        self._process: subprocess.Popen[bytes] | None = None

    async def read_output(self, name: str) -> tuple[list[bytes], dict[str, Any]]:
        """Return the output's lines, one a tool, and the content of the last line.

        Raises:
            BrokenInputError: the input cannot be read, or exceeds a limit. ``name`` is its name in the message.
        """
        try:
            output, code = await asyncio.get_running_loop().run_in_executor(_READERS, self.run)
        except asyncio.CancelledError:
            self.kill()
            raise
        output_lines = output.splitlines()
        last: dict[str, Any] = orjson.loads(output_lines[-1]) if code == 0 and output_lines else {}
        if code or "skipped" not in last:
            kind = TooManyOperationsError if last.get("code") == TooManyOperationsError.code else BrokenInputError
            raise kind(str(last.get("error")) if last else _explain_ending(code, self), file=name)
        return output_lines[:-1], last

    def run(self) -> tuple[bytes, int]:
        """Run the process to its end; returns its output and exit code. Blocks."""
        command = [sys.executable, "-P", "-B", "-m", self._module]
        # The server's environment is not passed on: no keys, no settings.
        environment = {"PYTHONPATH": str(_ROOT), "PATH": os.defpath, "LC_ALL": "C.UTF-8"}
        with subprocess.Popen(  # noqa: S603 the command is ours
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, cwd="/"
        ) as process:
            self._process = process
            if self._ended:  # cancelled while it waited for a thread, or before it was started
                process.kill()
            timer = threading.Timer(self.limits.seconds, self._expire)
            timer.start()
            try:
                output = self._exchange(process)
            finally:
                timer.cancel()
                if process.poll() is None and (self.overflowed or self.overdue):
                    process.kill()
        return output, process.returncode

    def _exchange(self, process: subprocess.Popen[bytes]) -> bytes:
        assert process.stdin is not None  # noqa: S101 both are pipes
        assert process.stdout is not None  # noqa: S101
        try:
            process.stdin.write(self._input)
            process.stdin.close()
        except BrokenPipeError:  # it ended before it had read everything; its exit code says why
            self.overdue = self.overdue or process.wait() == -signal.SIGKILL
        output = process.stdout.read(self.limits.output + 1)
        self.overflowed = len(output) > self.limits.output
        return output

    def _expire(self) -> None:
        self.overdue = True
        self.kill()

    def kill(self) -> None:
        """Kill the process if it runs, or as soon as it starts."""
        self._ended = True
        if self._process is not None:
            self._process.kill()


async def iterate_fairly(lines: Sequence[bytes]) -> AsyncGenerator[bytes]:
    """Yield the lines, giving other tasks their turn in between."""
    for number, line in enumerate(lines, start=1):
        yield line
        if number % _LINES_PER_TURN == 0:
            await asyncio.sleep(0)


async def _build_document(
    lines: Sequence[bytes], last: dict[str, Any], name: str, category_and_toolset: tuple[str, str]
) -> ImportedDocument:
    """Parse and check the tools of a reading."""
    tools: list[ToolDoc] = []
    source = f"openapi:{name}"[:500]
    async for line in iterate_fairly(lines):
        tool = ToolDoc.model_validate_json(line)
        if tool.id != make_tool_id(*category_and_toolset, tool.api):
            raise BrokenInputError("could not be read: a tool of it lies outside its source", file=name)
        tools.append(tool.model_copy(update={"source": source}))
    findings = tuple(Finding.model_validate(one) for one in last["findings"])
    return ImportedDocument(tuple(tools), tuple(str(one) for one in last["skipped"]), findings)


def _explain_ending(code: int, reader: ReaderProcess) -> str:
    """Return why a reading ended without an answer, and what to do."""
    limits = reader.limits
    advice = "take out what refers to itself or repeats, or split it into several sources"
    if reader.overflowed:
        return f"its tools come to more than {limits.output // MIB} MiB; {advice}"
    if code == -signal.SIGXCPU or reader.overdue:
        return f"takes longer to read than the {limits.cpu} s that it may; {advice}"
    return f"needs more to be read than it may have ({limits.memory // MIB} MiB of memory); {advice}"


async def read_listing_sandboxed(tools: list[Any], source: McpSource, limits: ReadLimits | None = None) -> McpListing:
    """Read a listing as :func:`graph.importers.mcp.read_listing` does, in a process with limits.

    Raises:
        BrokenInputError: the listing exceeds a limit; the message says what to do.
    """
    limits = limits or ReadLimits()
    source_fields = asdict(source) | {"credentials": [one.model_dump(mode="json") for one in source.credentials]}
    request = orjson.dumps({"source": source_fields, "limits": asdict(limits)})
    reader = ReaderProcess(f"{__package__}.listing_process", request, orjson.dumps(tools), limits)
    output_lines, last = await reader.read_output(f"the listing of the MCP server at {source.url}")
    docs = [ToolDoc.model_validate_json(line) async for line in iterate_fairly(output_lines)]
    return McpListing(tuple(docs), tuple(str(one) for one in last["skipped"]))
