"""Changes a store to the encoder of the settings: vectors are made beside those in use, which are kept after the switch."""

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

from domain.errors import ConflictError, UnavailableError, UsageError

if TYPE_CHECKING:
    from wiring.reindex import ReindexResult, ReindexTrial


def main(
    store: Annotated[Path | None, typer.Option(help="Folder of the store.")] = None,
    queries: Annotated[
        Path | None, typer.Option(help="Requests with their relevant APIs, JSONL, that both encoders are compared on.")
    ] = None,
    tolerance: Annotated[float, typer.Option(min=0, max=1, help="What NDCG@5 and Recall@10 may lose on them.")] = 0.01,
    former: Annotated[
        Path | None, typer.Option(help="Settings of the encoder used so far, if that is another service: a .env file.")
    ] = None,
    step: Annotated[
        Step | None,
        typer.Option(
            help="One step of the change alone: prepare, compare, switch; back to the former vectors; drop them; discard what is prepared."
        ),
    ] = None,
    to: Annotated[
        str, typer.Option(help="To prepare: bundled, an encoder's name in FOOTPATH_ENCODERS, or that of the settings.")
    ] = "settings",
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> None:
    """Prepare vectors of the settings' encoder, compare, switch; searches go on meanwhile. The former vectors are kept until --step drop. Interrupted, it goes on where it was.

    Exit codes: 0 switched, or the step is done; 1 the new vectors are worse and stay beside; 2 wrong use; 3 a store or service cannot be used.
    """
    if step:
        take(step, store, to, queries, as_json=as_json)
        return
    try:
        done = asyncio.run(_reindex(store, _trial(queries, tolerance, former)))
    except KeyboardInterrupt:
        print("interrupted; the vectors in use are as they were. Run it again to go on from there", file=sys.stderr)
        raise typer.Exit(130) from None
    except (UsageError, ConflictError, UnavailableError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(3 if isinstance(error, UnavailableError) else 2) from error
    if as_json:
        print(orjson.dumps(asdict(done)).decode())
    _show(done)
    raise typer.Exit(1 if done.refused else 0)


def _trial(queries: Path | None, tolerance: float, former: Path | None) -> "ReindexTrial":
    from evaluation.queries import read_queries
    from wiring.encoders import read_former_settings
    from wiring.reindex import ReindexTrial

    asked, skipped = read_queries(queries) if queries else (None, [])
    name_skipped(skipped)
    if asked is not None and not asked:
        raise UsageError(f"{queries} holds no request that can be scored")
    return ReindexTrial(asked, tolerance, read_former_settings(former) if former else None)


async def _reindex(store: Path | None, trial: "ReindexTrial") -> "ReindexResult":
    from wiring.reindex import reindex

    return await reindex(_tell, store=store, trial=trial)


def _tell(done: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done:,} tools", end="", file=sys.stderr)


def _show(done: "ReindexResult") -> None:
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
    if done.kept:
        told.append(
            f"the vectors of {done.kept} are kept for servers that run: start these again with the settings of now, then --step "
            "drop deletes them (--step back switches back)"
        )
    told += [f"not switched: {done.refused}"] if done.refused else []
    print("\n".join(told), file=sys.stderr)


if __name__ == "__main__":
    typer.run(main)
