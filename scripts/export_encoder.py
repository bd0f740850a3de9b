"""Make an encoder that needs no torch of a BERT model's weights (extra ``neural``)."""

import sys
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

import _environment as _environment  # first: it tells where the packages are missing
import orjson
import typer
from _evaluate_output import scoring
from _training_sources import check_folder

from domain.errors import UsageError
from evaluation.corpora.corpus import load_lines
from retriever.training.export import (
    EXPORT_MODULES,
    ExportReport,
    RescaleReport,
    export_encoder,
    find_bundled_source,
    infer_encoder_config,
    rescale_encoder,
)
from retriever.training.requirements import require_modules


def main(
    target: Annotated[Path, typer.Argument(help="Folder to write.")],
    source: Annotated[
        Path | None, typer.Option(help="Folder of the float model; the installed one without it.")
    ] = None,
    exported: Annotated[
        Path | None,
        typer.Option(
            help="Folder of an encoder exported by an earlier version: gives each token a scale of its own. Needs onnx alone."
        ),
    ] = None,
    texts: Annotated[
        Path | None, typer.Option(help="JSONL with a 'description' a line, to compare int8 with float.")
    ] = None,
    pooling: Annotated[
        Literal["mean", "cls"] | None,
        typer.Option(
            help="A text's vector: the mean of its tokens, or the first one's; what the folder says without it."
        ),
    ] = None,
    query_prefix: Annotated[
        str | None, typer.Option(help="What the model wants before a request; what the folder says without it.")
    ] = None,
    query_tokens: Annotated[
        int | None,
        typer.Option(min=8, max=2048, help="Where a request is cut; what the folder says without it, 128 in the end."),
    ] = None,
    document_tokens: Annotated[
        int | None,
        typer.Option(min=8, max=2048, help="Where a document is cut; what the folder says without it, 96 in the end."),
    ] = None,
) -> None:
    """Export, quantise, compare; prints the report as JSON."""
    with scoring("the export is interrupted; nothing of it is of use"):
        check_folder(target)
        told = {
            "pooling": pooling,
            "query_prefix": query_prefix,
            "query_tokens": query_tokens,
            "document_tokens": document_tokens,
        }
        changes = {name: value for name, value in told.items() if value is not None}
        if exported:
            if source or texts or changes:
                raise UsageError("--exported changes scales only: leave the other options out")
            _print(rescale_encoder(exported, target))
            return
        samples = (
            _descriptions(texts) if texts else ["weather forecast for a city", "convert an amount between currencies"]
        )
        require_modules(*EXPORT_MODULES)
        folder = source or find_bundled_source()
        form = infer_encoder_config(folder).model_copy(update=changes)
        _print(export_encoder(folder, target, samples, form))


def _print(report: ExportReport | RescaleReport) -> None:
    sys.stdout.write(orjson.dumps(asdict(report), option=orjson.OPT_INDENT_2).decode() + "\n")


def _descriptions(path: Path, limit: int = 500) -> list[str]:
    """Every 80th description that is not empty, ``limit`` at most. ``UsageError``: there is none."""
    found = filter(None, (str(record.get("description") or "").strip() for record in load_lines(path)))
    samples = list(islice(found, 0, 80 * limit, 80))
    if not samples:
        raise UsageError(f"{path} has no line with a 'description': name another file with --texts, or none")
    return samples


if __name__ == "__main__":
    typer.run(main)
