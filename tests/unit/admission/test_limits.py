"""The bounds of reading a stranger's document: what docs/gate.md says is what holds, and they grow together."""

from pathlib import Path

from admission.limits import MIB, ReadLimits
from agent.execution.http.document_fetch import FetchLimits
from graph.importers import openapi_schema, yaml_events
from server.bodies import MOST
from wiring.settings import Settings

GATE = Path(__file__).parents[3] / "docs" / "gate.md"


def test_the_bounds_that_are_written_down_are_those_that_hold() -> None:
    said = {
        cells[1].strip(): cells[2].strip()
        for line in GATE.read_text().splitlines()
        if len(cells := line.split("|")) == 5 and cells[2].strip()[:1].isdigit()
    }
    settings, limits, fetching = Settings(), ReadLimits(), FetchLimits()
    assert limits == ReadLimits.scale(settings.source_bytes, settings.source_tools), "the defaults are one another's"
    assert fetching.size == settings.source_bytes
    assert list(said.values()) == [
        f"{settings.source_bytes // MIB} MiB",
        f"{MOST:,} bytes",
        f"{fetching.seconds:.0f} s, {fetching.redirects} redirects",
        f"{limits.memory // MIB} MiB",
        f"{limits.cpu} s, {limits.seconds:.0f} s",
        f"{settings.source_tools}",
        f"{limits.output // MIB} MiB",
        f"{limits.tool // 1024} KiB",
        f"{limits.outlined:,}",
        f"{yaml_events.MAX_NODES:,}, {yaml_events.MAX_DEPTH}",
        f"{openapi_schema.MAX_VISITS:,}",
    ]


def test_what_a_larger_document_or_more_tools_need_grows_with_them() -> None:
    usual = ReadLimits()
    twice = ReadLimits.scale(2 * usual.document, 2 * usual.operations)
    assert (twice.memory, twice.output) == (2 * usual.memory, 2 * usual.output)
    small = ReadLimits.scale(1000, 5)
    assert (small.memory, small.output, small.document, small.operations) == (usual.memory, usual.output, 1000, 5)
