"""What is said of sources, their tools and the gate's checks, in words and signs."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from domain.tool_source import NO_TAG, OperationChoice
from ui.language import listing, message, moment, say, say_count
from ui.sources import Counts, Past, Source, SourceTool

KINDS = {"form": message("Written by hand"), "openapi": message("OpenAPI document"), "mcp": message("MCP server")}
STATES = {
    "draft": message("not checked"),
    "tested": message("checked"),
    "admitted": message("admitted"),
    "quarantined": message("kept out"),
}
STATES_OF = {
    "draft": message("{count:,} not checked"),
    "tested": message("{count:,} checked"),
    "admitted": message("{count:,} admitted"),
    "quarantined": message("{count:,} kept out"),
}
"""The same of several tools."""
STATE_SIGNS = {"draft": "○", "tested": "◐", "admitted": "●", "quarantined": "⊘"}
CHECKS = {
    "document": (message("Document"), message("Is the document itself in order?")),
    "address": (message("Address"), message("Do its calls go where calls may go?")),
    "name": (message("Name"), message("Is its name its own, and not one that another tool has?")),
    "auth": (message("Key"), message("Is it known which key its calls need, and is it there?")),
    "probe": (message("Live call"), message("Does a call with example values answer?")),
    "quality": (message("Wording"), message("Does the document say enough to choose and fill it?")),
    "findable": (message("Found"), message("Do requests that it should serve find it, and whom does it push out?")),
}
"""The checks of the gate by the server's names, in their order: a short name, and what it asks."""
VERDICTS = {"passed": ("✓", message("passed")), "warned": ("!", message("passed with a warning")), "failed": ("✗", message("failed")), "skipped": ("–", message("not done"))}  # fmt: skip
_GRAVEST = ("failed", "warned", "passed", "skipped")
VISIBLE_TO = {"everybody": message("Everybody"), "roles": message("Users with a role"), "users": message("Named users")}
KEYS_OF = {"caller": message("Each user's own"), "source": message("Those kept with the source, for all its users")}
EFFECTS = {
    "reads": message("only reads"),
    "changes": message("changes something"),
    "unknown": message("may change something"),
}
DEEDS = {
    "added": message("added it"),
    "changed": message("changed its settings"),
    "read": message("read it again"),
    "corrected": message("corrected"),
    "checked": message("started the admission check of"),
    "admitted": message("admitted"),
    "quarantined": message("kept out"),
    "undone": message("undid a step"),
    "looked": message("looked at the changes"),
    "removed": message("removed it"),
}
WATCHED = {
    0: message("Only when I say so"),
    60: message("Every hour"),
    1440: message("Every day"),
    10080: message("Every week"),
}


def tools_told(number: int) -> str:
    """``1 tool``, ``2 tools``."""
    return say_count("1 tool", "{count:,} tools", number)


def changes_told(number: int) -> str:
    """``1 change``, ``2 changes``."""
    return say_count("1 change", "{count:,} changes", number)


def counts_told(counts: Counts) -> str:
    """How many tools are in each state, without the states in which none is."""
    told = [say(STATES_OF[state], count=number) for state, number in counts.model_dump().items() if number]
    return listing(told) if told else say("no tools")


def state_told(tool: SourceTool) -> str:
    """The state of a tool; of one that was looked at and never called, that too."""
    if tool.state == "tested" and not tool.called and not tool.stopped:
        return say("checked, not called")
    return say(STATES.get(tool.state, tool.state))


def about(one: Source) -> str:
    """What kind it is and where it is, on one line."""
    where = one.address or (say("command {name}", name=one.command) if one.command else "")
    return " · ".join(part for part in (say(KINDS.get(one.kind, one.kind)), where, counts_told(one.counts)) if part)


def states_of(one: SourceTool) -> dict[str, str]:
    """The verdict of each check that was made, by the check's name; of several the gravest."""
    made: dict[str, str] = {}
    for finding in one.findings:
        before = made.get(finding.check, finding.verdict)
        made[finding.check] = min(before, finding.verdict, key=_graveness)
    return made


def _graveness(verdict: str) -> int:
    return _GRAVEST.index(verdict) if verdict in _GRAVEST else len(_GRAVEST)


def admissible(tools: Iterable[SourceTool], *, called: bool = True) -> list[SourceTool]:
    """Those that were checked, that no check stops, and that are not admitted yet: that the gate has called, or has not."""
    ready = (one for one in tools if one.state == "tested" and not one.stopped and not one.gone)
    return [one for one in ready if one.called == called]


def past_told(one: Past) -> str:
    """A line of the history: when, who, what, of which tools, why."""
    tools = f": {names_told(one.tools)}" if one.tools else ""
    reason = f" ({one.reason})" if one.reason else ""
    undone = f" {say('(undone since)')}" if one.undone else ""
    return f"{when(one.at)}  {one.who or say('the server')} {step_told(one)}{tools}{reason}{undone}"


def step_told(one: Past) -> str:
    """What was done, in words."""
    return say(DEEDS.get(one.what, one.what))


def names_told(tools: Sequence[str], most: int = 6) -> str:
    """The last parts of tools' ids; of many, how many more there are."""
    names = [tool.rpartition("/")[2] for tool in tools[:most]]
    told = listing(names)
    return f"{told} {say('and {count} more', count=len(tools) - most)}" if len(tools) > most else told


def when(at: datetime | None) -> str:
    """A time in UTC, to the minute."""
    return f"{moment(at)} UTC" if at else say("never")


_TAGS, _PATHS, _SINGLE, _METHODS = message("tags"), message("paths"), message("single operations"), message("methods")


def operations_told(choice: OperationChoice) -> str:
    """Which operations of its document a source takes."""
    if choice.is_empty:
        return say("All operations of its document are taken.")
    tags = [tag if tag != NO_TAG else say("without a tag") for tag in choice.tags]
    parts = [
        say("{what}: {text}", what=say(what), text=listing(list(texts)))
        for what, texts in ((_TAGS, tags), (_PATHS, choice.paths), (_SINGLE, choice.names), (_METHODS, choice.methods))
        if texts
    ]
    return say("Of its document are taken: {parts}.", parts="; ".join(parts))
