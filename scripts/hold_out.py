"""Divides trajectories: one file to build a graph from, and a file of the other requests to choose parameters on."""

import gzip
from pathlib import Path
from typing import Annotated, Any

import _environment as _environment  # first: it tells where the packages are missing
import orjson
import typer
from _evaluate_output import console, scoring

from domain.trajectory import Trajectory
from evaluation.corpora.corpus import read_parsed_lines
from evaluation.held_out import HeldOut, hold_out
from evaluation.queries import RetrievalQuery, read_queries_strictly
from evaluation.tuning import collect_labelled_queries
from graph.function_names import NameIndex
from graph.importers import jsonl
from graph.importers.records import Record


def main(
    tools: Annotated[Path, typer.Option(help="Tools, JSONL, plain or gzip.")],
    trajectories: Annotated[Path, typer.Option(help="Trajectories, JSONL, plain or gzip.")],
    measured: Annotated[Path, typer.Option(help="Queries that are measured on: requests near them are left out.")],
    learnt: Annotated[Path, typer.Option(help="Written: the trajectories to build a graph from, gzip.")],
    asked: Annotated[Path, typer.Option(help="Written: the requests held out, as evaluate.py reads them.")],
    sample: Annotated[
        int, typer.Option(min=0, help="Requests of each split; 0: none, only what is near a measured one is left out.")
    ] = 120,
    least: Annotated[int, typer.Option(min=1, help="APIs that a request held out has at least.")] = 2,
) -> None:
    """A sample of the requests is held out; no trajectory of theirs, of a measured one, or of a request near one, is learnt from."""
    with scoring():
        read = list(
            read_parsed_lines(trajectories, lambda record: (record, jsonl.parse_trajectory(record, trajectories.name)))
        )
        names = NameIndex(read_parsed_lines(tools, jsonl.parse_tool))
        apart = read_queries_strictly(measured)
        labelled = collect_labelled_queries((one for _, one in read), names, apart)
        parts = hold_out(labelled, (one.query for _, one in read), sample, least, apart)
        _write(parts, read, learnt, asked)
    kept = sum(one.query in parts.learnt for _, one in read)
    console.print(f"{len(parts.queries)} requests held out, {kept} of {len(read)} trajectories to learn from")


def _write(parts: HeldOut, read: list[tuple[Record, Trajectory]], learnt: Path, asked: Path) -> None:
    with gzip.open(learnt, "wb") as lines:
        lines.writelines(orjson.dumps(record) + b"\n" for record, one in read if one.query in parts.learnt)
    asked.write_bytes(b"".join(orjson.dumps(_record(query)) + b"\n" for query in parts.queries))


def _record(query: RetrievalQuery) -> dict[str, Any]:
    relevant = [{"tool": toolset, "api": api} for toolset, api in sorted(query.relevant)]
    return {"split": query.split, "query": query.query, "relevant": relevant}


if __name__ == "__main__":
    typer.run(main)
