"""Chooses BM25's parameters and the fusion weight on the trajectories' own requests."""

import asyncio
import itertools
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import typer
from _evaluate_output import console, scoring
from _labelled_requests import read_labelled

from evaluation.queries import RetrievalQuery
from evaluation.retrieval import rank, tabulate_means
from evaluation.tuning import compute_objective
from retriever.document_texts import build_lexical_text
from retriever.lexical import LexicalIndex, LexicalParameters
from retriever.search import SearchParameters, ToolSearch
from wiring.container import Container, open_container


def main(
    store: Annotated[Path, typer.Option(help="Folder of the store, tools indexed.")],
    trajectories: Annotated[Path, typer.Option(help="Trajectories, JSONL, plain or gzip.")],
    measured: Annotated[Path, typer.Option(help="Queries that are measured on: requests near them are left out.")],
    without: Annotated[str, typer.Option(help="A source of trajectories to leave out.")] = "rotbench",
    sample: Annotated[int, typer.Option(help="Requests of each split, one or several tool sets.")] = 200,
    k1: Annotated[list[float], typer.Option(help="Values tried; repeatable.")] = [1.5, 2.5, 4.0],  # noqa: B006
    b: Annotated[list[float], typer.Option(help="Values tried; repeatable.")] = [0.75, 0.9],  # noqa: B006
    weight: Annotated[list[float], typer.Option(help="Dense weights tried; repeatable.")] = [0.4, 0.5, 0.6],  # noqa: B006
) -> None:
    """Print a line for each combination: the objective, then NDCG@1, NDCG@5 and recall@10 of each split."""
    with scoring("interrupted; the lines above stand"):
        asyncio.run(_tune(store, trajectories, measured, without, sample, (k1, b, weight)))


async def _tune(
    store: Path, trajectories: Path, measured: Path, without: str, sample: int, grid: tuple[list[float], ...]
) -> None:
    async with open_container(store=store) as container:
        documents = [document async for document in container.graph.stream_documents()]
        requests = read_labelled(trajectories, measured, without, documents, sample)
        texts = {document.id: build_lexical_text(document) for document in documents}
        console.print(f"{len(requests)} requests, {len(documents)} documents")
        for k1, b in itertools.product(*grid[:2]):
            with TemporaryDirectory() as folder:
                lexical = LexicalIndex(Path(folder), LexicalParameters(k1, b))
                await lexical.put(texts)
                for weight in grid[2]:
                    await _try(container, lexical, requests, (k1, b, weight))


async def _try(
    container: Container, lexical: LexicalIndex, requests: list[RetrievalQuery], chosen: tuple[float, float, float]
) -> None:
    embedder, index, _ = await container.get_retrieval()
    search = ToolSearch(embedder, index, lexical, SearchParameters(dense_weight=chosen[2]))
    figures = tabulate_means(await rank(requests, search, 20), lambda query: query.split)
    shown = "  ".join(
        f"{split}: {row['ndcg@1']:.3f} {row['ndcg@5']:.3f} {row['recall@10']:.3f}" for split, row in figures.items()
    )
    print(f"k1 {chosen[0]} b {chosen[1]} weight {chosen[2]}: {compute_objective(figures):.4f}  {shown}", flush=True)


if __name__ == "__main__":
    typer.run(main)
