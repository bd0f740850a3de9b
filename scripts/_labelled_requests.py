"""Requests to try the retriever on: those of trajectories, labelled with the APIs of their paths."""

from collections.abc import Sequence
from pathlib import Path

from _evaluate_output import console

from domain.errors import UsageError
from domain.tool import ToolDoc
from domain.trajectory import Trajectory
from evaluation.queries import RetrievalQuery, read_queries_strictly
from evaluation.tuning import collect_labelled_queries
from graph.function_names import NameIndex
from graph.importers import jsonl
from graph.importers.lines import read_lines
from graph.importers.records import RecordError, SkippedInput, load


def read_labelled(
    trajectories: Path, measured: Path | None, without: str, documents: Sequence[ToolDoc], sample: int | None
) -> list[RetrievalQuery]:
    """A seeded sample of each split, one or several tool sets. Requests near a ``measured`` one are left out.

    Raises:
        UsageError: there is no such file, or it labels no request with the tools of ``documents``.
    """
    if not trajectories.is_file():
        raise UsageError(f"{trajectories} is no file; name a file of trajectories, one JSON object a line")
    apart = read_queries_strictly(measured) if measured else []
    read = _read(trajectories, without)
    found = collect_labelled_queries(read, NameIndex(documents), apart, sample)
    if found:
        return found
    if not read:
        raise UsageError(f"{trajectories} has no trajectory but those of {without!r}, which --without leaves out")
    if collect_labelled_queries(read, NameIndex(documents), []):
        raise UsageError(f"every request of {trajectories} is near one of {measured}, which --measured leaves out")
    raise UsageError(
        f"none of the {len(read)} trajectories of {trajectories} serves a request with tools of this store; "
        "name the file that the store was built from"
    )


def _read(path: Path, without: str) -> list[Trajectory]:
    found: list[Trajectory] = []
    for line in read_lines(path):
        if isinstance(line, SkippedInput):
            console.print(f"skipped {line}", markup=False, soft_wrap=True)
            continue
        try:
            found.append(jsonl.parse_trajectory(load(line.body), path.name))
        except RecordError as error:
            console.print(f"skipped {path}:{line.number}: {error}", markup=False, soft_wrap=True)
    return [trajectory for trajectory in found if trajectory.source != without]
