"""What the commands of a training have in common: what they are given, looked at before the work begins."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from domain.errors import UsageError
from domain.tool import ToolDoc
from domain.trajectory import Trajectory
from evaluation.corpora.corpus import read_parsed_lines
from graph.importers import jsonl

Unlike = Annotated[
    list[str],
    typer.Option(help="SOURCE=N: of that source of trajectories N requests at most, none to judge by; repeatable."),
]
UNLIKE = ["rotbench=300"]
"""Without the option: a source of the public data set, which other files need not have."""


def check_folder(path: Path) -> None:
    """``UsageError``: no folder can be made there, for a file is in the way."""
    there = next(one for one in (path, *path.absolute().parents) if one.exists())
    if not there.is_dir():
        raise UsageError(f"{there} is no folder: name another one to write in")


def tools_of(path: Path) -> list[ToolDoc]:
    """The documents of a file. ``UsageError``: it has none; ``BrokenInputError``: a line is something else."""
    documents = list(read_parsed_lines(path, jsonl.parse_tool))
    if not documents:
        raise UsageError(f"{path} holds no tool: it is empty")
    return documents


def trajectories_of(path: Path) -> list[Trajectory]:
    """The trajectories of a file. ``UsageError``: it has none; ``BrokenInputError``: a line is something else."""
    walked = list(read_parsed_lines(path, lambda record: jsonl.parse_trajectory(record, path.name)))
    if not any(one.query and one.path for one in walked):
        raise UsageError(f"{path} holds no trajectory: none of its {len(walked)} lines has both a 'query' and 'calls'")
    return walked


def counts(given: list[str], walked: Iterable[Trajectory]) -> dict[str, int]:
    """The number of requests by source. ``UsageError`` names the form, or the sources that there are; the default's need not be there."""
    known = {one.source for one in walked}
    found: dict[str, int] = {}
    for one in given:
        source, _, count = one.partition("=")
        if not (source and count.isdigit()):
            raise UsageError(f"--unlike wants SOURCE=N, not {one!r}")
        if source not in known and given != UNLIKE:
            told = ", ".join(sorted(known)[:10])
            raise UsageError(f"--unlike {one}: no trajectory is of the source {source!r}; there are those of {told}")
        found[source] = int(count)
    return found
