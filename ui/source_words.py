"""What is said of sources, their tools and the gate's checks, in words and signs."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from ui.sources import Counts, Past, Source, SourceTool

KINDS = {"form": "Written by hand", "openapi": "OpenAPI document", "mcp": "MCP server"}
STATES = {"draft": "not checked", "tested": "checked", "admitted": "admitted", "quarantined": "kept out"}
STATE_SIGNS = {"draft": "○", "tested": "◐", "admitted": "●", "quarantined": "⊘"}
CHECKS = {
    "document": ("Document", "Is the document itself in order?"),
    "address": ("Address", "Do its calls go where calls may go?"),
    "name": ("Name", "Is its name its own, and not one that another tool has?"),
    "auth": ("Key", "Is it known which key its calls need, and is it there?"),
    "probe": ("Live call", "Does a call with example values answer?"),
    "quality": ("Wording", "Does the document say enough to choose and fill it?"),
    "findable": ("Found", "Do requests that it should serve find it, and whom does it push out?"),
}
"""The checks of the gate by the server's names, in their order: a short name, and what it asks."""
VERDICTS = {"passed": ("✓", "passed"), "warned": ("!", "passed with a warning"), "failed": ("✗", "failed"), "skipped": ("–", "not done")}  # fmt: skip
_GRAVEST = ("failed", "warned", "passed", "skipped")
VISIBLE_TO = {"everybody": "Everybody", "roles": "Users with a role", "users": "Named users"}
KEYS_OF = {"caller": "Each user's own", "source": "Those kept with the source, for all its users"}
EFFECTS = {"reads": "only reads", "changes": "changes something", "unknown": "may change something"}
DEEDS = {
    "added": "added it",
    "changed": "changed its settings",
    "read": "read it again",
    "corrected": "corrected",
    "checked": "had the gate look at",
    "admitted": "admitted",
    "quarantined": "kept out",
    "undone": "undid a step",
    "looked": "looked at the changes",
    "removed": "removed it",
}
WATCHED = {0: "Only when I say so", 60: "Every hour", 1440: "Every day", 10080: "Every week"}


def counted(number: int, one: str, many: str = "") -> str:
    """``1 tool``, ``2 tools``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def counts_told(counts: Counts) -> str:
    """How many tools are in each state, without the states in which none is."""
    told = [f"{number:,} {STATES[state]}" for state, number in counts.model_dump().items() if number]
    return ", ".join(told) if told else "no tools"


def about(one: Source) -> str:
    """What kind it is and where it is, on one line."""
    where = one.address or (f"command {one.command}" if one.command else "")
    return " · ".join(part for part in (KINDS.get(one.kind, one.kind), where, counts_told(one.counts)) if part)


def states_of(one: SourceTool) -> dict[str, str]:
    """The verdict of each check that was made, by the check's name; of several the gravest."""
    made: dict[str, str] = {}
    for finding in one.findings:
        before = made.get(finding.check, finding.verdict)
        made[finding.check] = min(before, finding.verdict, key=_graveness)
    return made


def _graveness(verdict: str) -> int:
    return _GRAVEST.index(verdict) if verdict in _GRAVEST else len(_GRAVEST)


def admissible(tools: Iterable[SourceTool]) -> list[SourceTool]:
    """Those that were checked, that no check stops, and that are not admitted yet."""
    return [one for one in tools if one.state == "tested" and not one.stopped and not one.gone]


def past_told(one: Past) -> str:
    """A line of the history: when, who, what, of which tools, why."""
    tools = f": {names_told(one.tools)}" if one.tools else ""
    reason = f" ({one.reason})" if one.reason else ""
    undone = ", undone since" if one.undone else ""
    return f"{when(one.at)}  {one.who or 'the server'} {step_told(one)}{tools}{reason}{undone}"


def step_told(one: Past) -> str:
    """What was done, in words."""
    return DEEDS.get(one.what, one.what)


def names_told(tools: Sequence[str], most: int = 6) -> str:
    """The last parts of tools' ids; of many, how many more there are."""
    names = [tool.rpartition("/")[2] for tool in tools[:most]]
    return ", ".join(names) + (f" and {len(tools) - most} more" if len(tools) > most else "")


def when(at: datetime | None) -> str:
    """A time in UTC, to the minute."""
    return f"{at:%Y-%m-%d %H:%M} UTC" if at else "never"
