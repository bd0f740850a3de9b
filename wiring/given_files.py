"""Files of this machine that are given with a question."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from agent.files.given import GivenFiles
from agent.files.reading import FileLimits, read_file
from domain.errors import UsageError
from domain.given_file import GivenFile
from wiring.settings import Settings


async def given_files(paths: Sequence[Path], settings: Settings, before: Sequence[GivenFile] = ()) -> GivenFiles:
    """Read the files of a question. ``UsageError``: one cannot be read, or there are too many.

    ``before``: files of earlier questions of the conversation.
    """
    if len(paths) > settings.files:
        raise UsageError(f"a question may have {settings.files} files; this one has {len(paths)}")
    return await asyncio.to_thread(_given, paths, settings, before)


def _given(paths: Sequence[Path], settings: Settings, before: Sequence[GivenFile]) -> GivenFiles:
    limits = FileLimits(settings.file_bytes, settings.file_rows, settings.files)
    taken = {one.variable for one in before}
    found: list[GivenFile] = []
    for path in paths:
        try:
            with path.open("rb") as opened:
                data = opened.read(limits.bytes + 1)
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
        found.append(read_file(path.name, data, limits, taken))
        taken.add(found[-1].variable)
    return GivenFiles(tuple(found), tuple(before)[: limits.files])
