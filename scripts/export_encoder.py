"""Make the bundled encoder anew from its published weights (extra ``neural``)."""

import gzip
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import orjson
import typer

from retriever.training.export import bundled_source, export_encoder


def main(
    target: Annotated[Path, typer.Argument(help="Folder to write.")] = Path("retriever/embedders/minilm_int8"),
    source: Annotated[
        Path | None, typer.Option(help="Folder of the float model; the installed one without it.")
    ] = None,
    texts: Annotated[
        Path | None, typer.Option(help="JSONL with a 'description' a line, to compare int8 with float.")
    ] = None,
) -> None:
    """Export, quantise, compare; prints the report as JSON."""
    samples = _descriptions(texts) if texts else ["weather forecast for a city", "convert an amount between currencies"]
    report = export_encoder(source or bundled_source(), target, samples)
    sys.stdout.write(orjson.dumps(asdict(report), option=orjson.OPT_INDENT_2).decode() + "\n")


def _descriptions(path: Path, limit: int = 500) -> list[str]:
    """Every 80th non-empty description, ``limit`` at most."""
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as lines:
        found = [
            text
            for number, line in enumerate(lines)
            if number % 80 == 0 and (text := orjson.loads(line)["description"])
        ]
    return found[:limit]


if __name__ == "__main__":
    typer.run(main)
