"""The calls of a program and what feeds what, as a graph in Graphviz' language: of a plan that is edited, and of a run.

Names are strangers' texts: all of them go through :func:`ui.walk_graph.quoted`. Every colour is beside a word or a sign that says the same.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from domain.tool import ToolId
from ui.calls import SAID, SIGNS, CallState
from ui.language import say
from ui.walk_graph import quoted, tool_name

_LONGEST = 28
_MOST = 60
"""Calls that are drawn; of a program that has more, the others are counted."""
_LOOK: dict[CallState, str] = {
    "planned": 'fillcolor="#f6f7f9" color="#6b7480"',
    "unreached": 'style="filled,rounded,dotted" fillcolor="#f6f7f9" color="#6b7480" fontcolor="#4a525d"',
    "running": 'fillcolor="#e4ebf7" color="#2457a6" penwidth=1.6',
    "waits": 'style="filled,rounded,dashed" fillcolor="#fdeccf" color="#8a5200" penwidth=1.6',
    "done": 'fillcolor="#d6f0e0" color="#1f7a4d" penwidth=1.6',
    "not_made": 'style="filled,rounded,dashed" fillcolor="#f6f7f9" color="#6b7480" fontcolor="#4a525d"',
    "failed": 'style="filled,rounded,bold" fillcolor="#fbe0dd" color="#a3261b" penwidth=2',
}
_HEAD = (
    'digraph calls { rankdir=TB; bgcolor="transparent"; nodesep=0.2; ranksep=0.35;'
    ' node [shape=box style="filled,rounded" fontname="sans-serif" fontsize=11 margin="0.12,0.06" height=0.3];'
    ' edge [color="#6b7480" arrowsize=0.6 fontname="sans-serif" fontsize=9 fontcolor="#4a525d"];'
)


@dataclass(frozen=True)
class DrawnCall:
    """A place of a text that calls something. ``key``: what feeds name it by. ``line`` 0: not told. ``times``: how often it was called, where that is
    known; ``about``: more of it, shown where somebody points at it.
    """

    key: str
    tool: ToolId
    line: int = 0
    state: CallState = "planned"
    changes: bool = False
    times: int = 0
    about: str = ""


@dataclass(frozen=True)
class DrawnFeed:
    """The second call takes values of what the first one answers. ``value``: which, where that is known."""

    source: str
    target: str
    value: str = ""


def call_dot(calls: Sequence[DrawnCall], feeds: Iterable[DrawnFeed], answer: Collection[str] = ()) -> str:
    """The graph, downwards. ``answer``: the keys of the calls whose answers the program's own is made of; with none, that is not drawn."""
    names = {one.key: f"c{number}" for number, one in enumerate(calls[:_MOST])}
    lines = [_HEAD, *(_node(names[one.key], one) for one in calls[:_MOST])]
    if len(calls) > _MOST:
        more = quoted(say("and {count} more", count=len(calls) - _MOST))
        lines.append(f'more [label={more} shape=plaintext style="" fontcolor="#4a525d"];')
    for feed in dict.fromkeys(feeds):
        if feed.source in names and feed.target in names:
            value = f" [label={quoted(feed.value, _LONGEST)}]" if feed.value else ""
            lines.append(f"{names[feed.source]} -> {names[feed.target]}{value};")
    ends = [names[key] for key in names if key in answer]
    if ends:
        lines.append(f'answer [label={quoted(say("answer"))} shape=ellipse fillcolor="#e4ebf7" color="#2457a6"];')
        lines += [f"{name} -> answer;" for name in ends]
    return "\n".join([*lines, "}"])


def told_calls(calls: Sequence[DrawnCall], feeds: Iterable[DrawnFeed]) -> str:
    """The same in words, for who cannot see it."""
    named = {one.key: _name(one) for one in calls[:_MOST]}
    told = [f"{_name(one)} {say(SAID[one.state])}" for one in calls[:_MOST]]
    told += [
        say("{source} feeds {target}", source=named[one.source], target=named[one.target])
        for one in dict.fromkeys(feeds)
        if {one.source, one.target} <= named.keys()
    ]
    return "; ".join(told)


def _node(name: str, call: DrawnCall) -> str:
    """The API with its sign above the tool set, the line, and how often; one that changes something has a double border and says so."""
    toolset, slash, api = tool_name(call.tool).rpartition(" / ")
    sign = f"{SIGNS[call.state]} " if SIGNS[call.state] else ""
    place = say("line {line}", line=call.line) if call.line else ""
    times = f"×{call.times}" if call.times > 1 else ""
    below = " · ".join(
        part for part in (toolset if slash else "", place, times, say("changes") if call.changes else "") if part
    )
    label = quoted(f"{sign}{api}", _LONGEST)
    if below:
        label = label[:-1] + r"\n" + quoted(below, _LONGEST + 20)[1:]
    border = " peripheries=2" if call.changes else ""
    tooltip = " · ".join(part for part in (say(SAID[call.state]), call.about) if part)
    return f"{name} [label={label} tooltip={quoted(tooltip, 400)}{border} {_LOOK[call.state]}];"


def _name(call: DrawnCall) -> str:
    return (
        say("{tool} on line {line}", tool=tool_name(call.tool), line=call.line) if call.line else tool_name(call.tool)
    )
