"""`evaluate.py couplings`: which of a benchmark's dependencies between calls the feeds of a store know."""

import asyncio
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from _evaluate_output import scoring, tell
from rich.console import Console
from rich.table import Table

from evaluation.couplings import (
    FieldDependency,
    FunctionDocuments,
    GoldProgram,
    compute_figures,
    count_verdicts,
    judge_dependency,
    read_programs,
    read_verdicts,
)
from wiring.container import open_container


def couplings(
    benchmark: Annotated[Literal["graphqlrestbench"], typer.Option(help="Which benchmark the folder holds.")],
    data: Annotated[Path, typer.Option(help="Folder of the benchmark.")],
    store: Annotated[Path | None, typer.Option(help="Folder of a store of its APIs.")] = None,
    judged: Annotated[
        Path | None, typer.Option(help="Edges that a person judged, JSONL: how many of them there are, by verdict.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """How many of the dependencies in a benchmark's gold programs the feeds of a store know: even rows, odd rows, all."""
    with scoring():
        programs, skipped = read_programs(data)
        verdicts = read_verdicts(judged) if judged is not None else {}
        result = asyncio.run(_figures(programs, verdicts, store))
    tell({"benchmark": benchmark, **result}, _show, as_json=as_json, skipped=skipped)


async def _figures(
    programs: list[GoldProgram], verdicts: dict[FieldDependency, str], store: Path | None
) -> dict[str, Any]:
    async with open_container(store=store) as container:
        documents = [document async for document in container.graph.stream_documents()]
        functions = FunctionDocuments(documents)
        wanted = {dependency for program in programs for dependency in program.dependencies}
        named = (functions.get(dependency.target) for dependency in {*wanted, *verdicts})
        targets = {document.id for document in named if document is not None}
        feeds = {tool: await container.graph.get_feeds_into(tool) for tool in sorted(targets)}
    judged = {dependency: judge_dependency(dependency, functions, feeds) for dependency in wanted}
    missed = sorted(
        f"{one.source}.{one.field} -> {one.target}.{one.parameter}" for one in wanted if not judged[one].exact
    )
    found = {"groups": compute_figures(programs, judged), "missed": missed}
    return found | {"judged": count_verdicts(verdicts, functions, feeds)} if verdicts else found


def _show(result: dict[str, Any]) -> None:
    table = Table(box=None)
    for column in ("", "dependencies", "documented", "fed", "from this very field"):
        table.add_column(column, justify="right" if column else "left")
    for name, row in result["groups"].items():
        table.add_row(name.replace("_", " "), *(str(row[key]) for key in ("n", "known", "fed", "exact")))
    out = Console(highlight=False, soft_wrap=True)
    out.print(table)
    if "judged" in result:
        out.print(
            "judged edges that are there: " + ", ".join(f"{n} {verdict}" for verdict, n in result["judged"].items())
        )
    for line in result["missed"]:
        out.print(f"missed: {line}", markup=False)
