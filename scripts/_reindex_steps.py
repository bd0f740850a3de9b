"""`reindex.py --step`: a change of encoder step by step, as an administrator takes it on the page."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import orjson
import typer
from _evaluate_output import name_skipped

from domain.errors import ConflictError, UnavailableError, UsageError

if TYPE_CHECKING:
    from domain.encoder_comparison import EncoderComparison, Example
    from domain.model import JsonObject
    from evaluation.offer_requests import LabelledRequest
    from wiring.container import Container

Step = Literal["prepare", "compare", "switch", "discard", "back", "drop"]
_SHARES = ("recall8", "recall16", "complete8", "complete16")


def take(step: Step, store: Path | None, to: str, queries: Path | None, *, as_json: bool) -> None:
    """Take one step, and tell of it. What cannot be done ends the process with its reason."""
    try:
        told = asyncio.run(_take(step, store, to, queries))
    except KeyboardInterrupt:
        print("interrupted; the vectors in use are as they were. Run it again to go on from there", file=sys.stderr)
        raise typer.Exit(130) from None
    except (UsageError, ConflictError, UnavailableError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(3 if isinstance(error, UnavailableError) else 2) from error
    if as_json:
        print(orjson.dumps(told).decode())


async def _take(step: Step, store: Path | None, to: str, queries: Path | None) -> "JsonObject":
    from wiring.container import load_settings, open_container
    from wiring.encoder_change import EncoderChange
    from wiring.encoders import parse_choice
    from wiring.links import link_fully

    settings = load_settings()
    given = _given(queries)
    async with open_container(settings, store) as container:
        change = EncoderChange(container)
        if step == "prepare":
            brought = await change.prepare(parse_choice(to, settings), _progress, threads=None)
            _say(f"{brought.embedded:,} of {brought.tools:,} tools embedded beside those in use; now --step compare")
            return {"tools": brought.tools, "embedded": brought.embedded, "removed": brought.removed}
        if step == "compare":
            return await _compare(container, given)
        if step in ("switch", "back"):
            now = await (change.switch() if step == "switch" else change.switch_back())
            await link_fully(container)
            _say(f"searches go by {now.identity}; the former vectors are kept until --step drop")
            return now.model_dump(mode="json")
        gone = await (change.discard() if step == "discard" else change.drop_former())
        _say("\n".join(f"deleted {name}" for name in gone) or "there was nothing to delete")
        return {"deleted": list(gone)}


def _given(queries: Path | None) -> "list[LabelledRequest] | None":
    from evaluation.offer_requests import read_offer_requests

    if queries is None:
        return None
    found, skipped = read_offer_requests(queries)
    name_skipped(skipped)
    if not found:
        raise UsageError(f"{queries} holds no request that can be scored")
    return found


async def _compare(container: "Container", given: "list[LabelledRequest] | None") -> "JsonObject":
    from wiring.encoder_trial import compare_on_store

    found = await compare_on_store(container, _progress, given)
    _show(found)
    return found.model_dump(mode="json")


def _show(found: "EncoderComparison") -> None:
    old, new = found.old, found.new
    _say(f"former {old.identity}\nnew    {new.identity}")
    _say(f"{found.requests} requests: " + ", ".join(f"{count} {name}" for name, count in found.origins.items()))
    for name in _SHARES:
        _say(f"{name:<11} {getattr(old, name):.3f} -> {getattr(new, name):.3f}")
    _say(f"overlap@16  {found.overlap:.3f}")
    _say(f"seconds     {old.seconds:.3f} -> {new.seconds:.3f}, 95 of 100 {old.seconds95:.3f} -> {new.seconds95:.3f}")
    _say(f"dimension   {old.dimension} -> {new.dimension}, {old.bytes:,} -> {new.bytes:,} bytes of vectors")
    if old.reranked and not new.reranked:
        _say("the re-ranker has learnt with the former encoder, and is left out with the new one")
    _examples("gain", found.gained, found.gains)
    _examples("lose", found.lost, found.losses)


def _examples(name: str, count: int, examples: "tuple[Example, ...]") -> None:
    _say(f"{count} requests {name}")
    for one in examples:
        _say(f"  {one.request}: {', '.join(one.needed)} at {_places(one.old)} -> {_places(one.new)}")


def _places(places: tuple[int | None, ...]) -> str:
    return ", ".join("none" if place is None else str(place) for place in places)


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done:,} of {total:,}", end="", file=sys.stderr)


def _say(text: str) -> None:
    print(text, file=sys.stderr)
