"""What an administrator imports, read in a process of its own, whose memory, time and files are bounded."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from domain.errors import BrokenInputError
from server.data.import_limits import MIB, ImportLimits
from server.data.import_preview import Preview
from server.data.import_process import PREVIEW

_ROOT = Path(__file__).parents[__name__.count(".")]
"""What our packages are imported from."""


async def read_import(
    files: Sequence[Mapping[str, str]],
    out: Path,
    progress: Callable[[str, int, int | None], None],
    server: str = "",
    limits: ImportLimits | None = None,
) -> Preview:
    """Read ``files`` (each with ``path`` and what it ``holds``) into ``out``. Raises ``BrokenInputError``: it cannot be read, or takes more than it may."""
    limits = limits or ImportLimits()
    command = [sys.executable, "-P", "-B", "-m", f"{__package__}.import_process"]
    # Nothing of the server's environment goes along: no keys, no settings.
    known = {"PYTHONPATH": str(_ROOT), "PATH": os.defpath, "LC_ALL": "C.UTF-8"}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL, env=known, cwd="/"
    )
    assert process.stdin is not None  # noqa: S101  # both are pipes
    assert process.stdout is not None  # noqa: S101
    wanted = {"files": list(files), "out": str(out), "server": server, "limits": asdict(limits)}
    error = ""
    try:
        async with asyncio.timeout(limits.seconds):
            process.stdin.write(orjson.dumps(wanted))
            process.stdin.close()
            async for line in process.stdout:
                told: dict[str, Any] = orjson.loads(line)
                error = str(told.get("error", error))
                if "file" in told:
                    progress(str(told["file"]), int(told.get("done", 0)), told.get("total"))
            code = await process.wait()
    except TimeoutError:
        code = -signal.SIGXCPU
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    if error or code:
        raise BrokenInputError(error or _ending(code, limits), file="what was sent")
    return await asyncio.to_thread(lambda: Preview.model_validate_json((out / PREVIEW).read_bytes()))


def _ending(code: int, limits: ImportLimits) -> str:
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"takes longer to read than the {limits.cpu} s that it may; send it in several parts"
    if code == -signal.SIGXFSZ:
        return f"comes to more than {limits.file // MIB} MiB; send it in several parts"
    return f"needs more to be read than it may have ({limits.memory // MIB} MiB of memory); send it in several parts"
