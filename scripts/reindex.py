"""Indexes all tools anew with the encoder of the settings: beside the vectors in use, which are switched at the end, at once."""

import asyncio
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import _environment as _environment  # first: it tells where the packages are missing
import orjson
import typer
from _evaluate_output import name_skipped
from _reindex_steps import Step, take

from domain.errors import UnavailableError, UsageError

if TYPE_CHECKING:
    from wiring.reindex import Reindexed, Trial


def main(
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
    queries: Annotated[
        Path | None, typer.Option(help="Requests with their relevant APIs, JSONL, that both encoders are compared on.")
    ] = None,
    tolerance: Annotated[float, typer.Option(min=0, max=1, help="What NDCG@5 and Recall@10 may lose on them.")] = 0.01,
    force: Annotated[bool, typer.Option("--force", help="Switch whatever the comparison says.")] = False,
    former: Annotated[
        Path | None, typer.Option(help="Settings of the encoder used so far, if that is another service: a .env file.")
    ] = None,
    keep_former: Annotated[bool, typer.Option("--keep-former", help="Do not delete the vectors used so far.")] = False,
    step: Annotated[Step | None, typer.Option(help="One step of the change alone, rather than all at once.")] = None,
    to: Annotated[
        str, typer.Option(help="To prepare: bundled, an encoder's name in FOOTPATH_ENCODERS, or that of the settings.")
    ] = "settings",
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """Re-index, compare, switch. Interrupted, it goes on where it was.

    Exit codes: 0 switched, or the step is done; 1 the new vectors are worse and stay beside; 2 wrong use; 3 a store or service cannot be used.
    """
    if step:
        take(step, store, to, queries, as_json=as_json)
        return
    try:
        done = asyncio.run(_reindex(store, _trial(queries, tolerance, former, force=force), keep_former=keep_former))
    except KeyboardInterrupt:
        print("interrupted; the vectors in use are as they were. Run it again to go on from there", file=sys.stderr)
        raise typer.Exit(130) from None
    except (UsageError, UnavailableError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2 if isinstance(error, UsageError) else 3) from error
    if as_json:
        print(orjson.dumps(asdict(done)).decode())
    _show(done)
    raise typer.Exit(1 if done.refused else 0)


def _trial(queries: Path | None, tolerance: float, former: Path | None, *, force: bool) -> "Trial":
    from evaluation.queries import read_queries
    from wiring.embedders import former_settings
    from wiring.reindex import Trial

    asked, skipped = read_queries(queries) if queries else (None, [])
    name_skipped(skipped)
    if asked is not None and not asked:
        raise UsageError(f"{queries} holds no request that can be scored")
    return Trial(asked, tolerance, force, former_settings(former) if former else None)


async def _reindex(store: Path | None, trial: "Trial", *, keep_former: bool) -> "Reindexed":
    from wiring.reindex import reindex

    return await reindex(_tell, store=store, trial=trial, keep_former=keep_former)


def _tell(done: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done:,} tools", end="", file=sys.stderr)


def _show(done: "Reindexed") -> None:
    told = [f"{done.embedded:,} of {done.tools:,} tools embedded in {done.seconds:.1f} s"]
    if compared := done.compared:
        told += [f"former {compared.former}", f"new    {compared.new}"]
        told += [f"{name:<10} {old:.3f} -> {new:.3f}" for name, (old, new) in compared.figures.items()]
        if compared.missing:
            told.append(
                f"{compared.missing:,} of {compared.relevant:,} relevant APIs have no document and count as misses"
            )
        told.append(f"overlap@10 {compared.overlap:.3f}, on {compared.requests} requests")
    told += [f"deleted {name}" for name in done.dropped]
    told += [f"not switched: {done.refused}"] if done.refused else []
    print("\n".join(told), file=sys.stderr)


if __name__ == "__main__":
    typer.run(main)
