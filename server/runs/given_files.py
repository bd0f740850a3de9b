"""The files that a run works on: its own, and those of earlier questions in its conversation."""

from collections.abc import Sequence

from agent.files.given import GivenFiles
from domain.given_file import GivenFile
from server.runs.conversation_context import EarlierRuns
from server.storage.runs import Run
from server.storage.storage import Storage

FILES = "files"
"""Key in a run's settings: the ids of the files that it was asked with."""
_BEFORE = 10
"""Number of earlier questions of a conversation whose files are offered to a new one."""
_MOST_BEFORE = 5


async def files_of(run: Run, storage: Storage, earlier: EarlierRuns | None = None) -> GivenFiles:
    """Load a run's files; the result is the same each time the run is resumed, as long as no file is removed.

    No file of a run can be removed while the run is under way. ``NotFoundError``: a file that it was asked with is
    gone.
    """
    new = await storage.files.load_files(run.conversation_id, run.user_id, _ids(run))
    return GivenFiles(tuple(new), tuple(await _before(run, new, storage, earlier)))


async def _before(
    run: Run, new: Sequence[GivenFile], storage: Storage, runs: EarlierRuns | None
) -> Sequence[GivenFile]:
    """Load the files of the latest earlier questions, the latest first, without those that were removed meanwhile."""
    own = {one.id for one in new}
    earlier = (await (runs or EarlierRuns(run, storage)).get())[:_BEFORE]
    ids = list(dict.fromkeys(one for before in earlier for one in _ids(before) if one not in own))[:_MOST_BEFORE]
    found = (
        {one.file.id: one.file for one in await storage.files.list_all(run.conversation_id, run.user_id, ids)}
        if ids
        else {}
    )
    return [found[one] for one in ids if one in found]


def _ids(run: Run) -> list[str]:
    kept = run.settings.get(FILES)
    return [str(one) for one in kept] if isinstance(kept, list) else []
