"""What becomes of calls through each fault: the rows of the table in ``docs/faults.md``.

``python -m tests.faults.table`` writes them there.
"""

import asyncio
import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

import httpx

from agent.execution.http import HttpExecutor, HttpParameters
from agent.execution.http.host_limits import EventLoopClock
from agent.execution.secret_store import EnvironmentSecrets
from agent.execution.supplied_values import apply_supplied_values
from domain.model import JsonObject
from tests.faults.modes import FAULTS
from tests.support.fault_proxy import Fault, Proxy, proxying
from tests.support.moved_playground import playground_tools
from tests.support.playground_process import running_playground

PAGE = Path(__file__).resolve().parents[2] / "docs" / "faults.md"
BEGIN, END = "<!-- table: python -m tests.faults.table -->\n", "<!-- end of table -->\n"
CALLS: tuple[tuple[str, str], ...] = (
    ("read", "convert_currency"),
    ("write", "create_task"),
    ("write that may be repeated", "complete_task"),
    ("write with Idempotency-Key", "place_order"),
)
_SLOW = frozenset({"a byte every 0.2 s"})


@dataclass(frozen=True, slots=True)
class Row:
    """One call through one fault. ``effects``: entries in the playground's ledger afterwards."""

    fault: str
    call: str
    outcome: str
    attempts: int
    effects: int
    note: str


class _NoWaiting(EventLoopClock):
    """Waits between attempts take no time: the table tells what happens, not how long it takes."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def now(self) -> float:
        return super().now() + self._ahead

    async def sleep(self, seconds: float) -> None:
        self._ahead += seconds


async def rows(playground: str) -> list[Row]:
    """All faults, all calls."""
    found: list[Row] = []
    async with proxying(playground) as proxy, httpx.AsyncClient(base_url=playground, trust_env=False) as control:
        for name, fault in FAULTS.items():
            found += [await _row(name, fault, kind, api, proxy, control) for kind, api in CALLS]
    return found


async def _row(name: str, fault: Fault, kind: str, api: str, proxy: Proxy, control: httpx.AsyncClient) -> Row:
    (await control.post("/_reset")).raise_for_status()
    [raw] = playground_tools(proxy.address, api)
    tool = await apply_supplied_values(raw, EnvironmentSecrets({}))
    arguments = await _arguments(api, control)
    await control.delete("/_ledger")
    proxy.choose(fault)
    limits = HttpParameters(
        timeout=1.0 if name in _SLOW else 30.0, read_timeout=0.5, response_limit=100_000, allow_hosts=frozenset({"127.0.0.1"})
    )  # fmt: skip
    executor = HttpExecutor(limits, clock=_NoWaiting())
    result = await executor.call(tool, arguments)
    await executor.close()
    await asyncio.sleep(0.05)
    effects = (await control.get("/_ledger")).json()
    return Row(name, kind, result.outcome, result.attempts, len(effects), _steady(result.note))


async def _arguments(api: str, control: httpx.AsyncClient) -> JsonObject:
    """Arguments that are right, of things that are there."""
    match api:
        case "convert_currency":
            return {"from_currency": "VDK", "to_currency": "NRV", "amount": 10}
        case "create_task":
            return {"title": "Book the ferry"}
        case "complete_task":
            made = await control.post("/doable/tasks", json={"title": "Book the ferry"})
            return {"task_id": made.json()["task_id"]}
        case _:
            found = (await control.get("/market/products", params={"query": "kettle"})).json()
            return {
                "customer": {"name": "Dagny Iversholt", "email": "dagny@oskvik.example"},
                "shipping_address": {"street": "12 Mill Lane", "city": "Oskvik"},
                "items": [{"product_id": found["products"][0]["product_id"], "quantity": 1}],
            }


def _steady(note: str) -> str:
    """Without what depends on how fast bytes went by, or on the version of a library."""
    note = re.sub(r"broke off after \d+ bytes \(.*?\)(?=;|$)", "broke off", note)
    return re.sub(r"no answer (in time )?\(.*?\)(?=;|$)", r"no answer \1", note).replace(" ;", ";").strip()


def written(table: Iterable[Row]) -> str:
    """The rows as Markdown; calls of one fault with which the same happened share a line."""
    names = [field.name for field in fields(Row)]
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    calls: dict[Row, list[str]] = {}
    for row in table:
        calls.setdefault(replace(row, call=""), []).append(row.call)
    shown = (replace(row, call=", ".join(alike)) for row, alike in calls.items())
    lines += ["| " + " | ".join(str(value).replace("|", "\\|") for value in astuple(row)) + " |" for row in shown]
    return "\n".join(lines) + "\n"


def committed() -> str:
    """The table in the page."""
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


def main() -> None:
    """Write the table into the page."""
    with running_playground() as playground:
        table = written(asyncio.run(rows(playground)))
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + table + END + rest.partition(END)[2], encoding="utf-8")


if __name__ == "__main__":
    main()
