"""A tool among its neighbours, as a graph in Graphviz' language. Names are strangers' texts: all of them go through :func:`ui.walk_graph.quoted`.

Every colour and line is beside a word that says the same.
"""

from collections.abc import Iterable, Sequence

from domain.tool import FINISH, ToolId
from ui.language import message, say
from ui.library import Feed, Neighbours, Walk
from ui.walk_graph import quoted, tool_name

SHOWN = 8
"""Of the tools before and after, the first so many are drawn."""
_LONGEST = 30
MARKS = {"pin": message("pinned"), "mute": message("muted"), "ban": message("banned")}
_HEAD = (
    'digraph tool { rankdir=LR; bgcolor="transparent"; nodesep=0.15; ranksep=0.6;'
    ' node [shape=box style="filled,rounded" fontname="sans-serif" fontsize=11 margin="0.12,0.06" height=0.3 fillcolor="#f6f7f9" color="#6b7480"];'
    ' edge [color="#6b7480" arrowsize=0.6 fontname="sans-serif" fontsize=9 fontcolor="#4a525d"];'
)
_MARKED = {
    "pin": 'color="#1f7a4d" penwidth=2',
    "mute": 'color="#8a5200" style=dashed',
    "ban": 'color="#a3261b" style=dotted',
}


def neighbours_dot(tool: ToolId, found: Neighbours) -> str:
    """The tool in the middle, what came before it on the left, what came after it on the right; dashed: what feeds it, or what it feeds."""
    names: dict[tuple[str, str], str] = {}
    lines = [_HEAD, f'here [label={_label(tool)} fillcolor="#e4ebf7" color="#2457a6" penwidth=1.6];']
    for side, walks in (("l", found.before[:SHOWN]), ("r", found.after[:SHOWN])):
        for walk in walks:
            name = _placed(names, lines, side, walk.tool)
            ends = f"{name} -> here" if side == "l" else f"here -> {name}"
            look = _MARKED.get(walk.mark or "", "")
            lines.append(f"{ends} [label={quoted(_told(walk))} {look}];")
    for side, feeds in (("l", found.feeds_in), ("r", found.feeds_out)):
        for feed in best_of_each(feeds)[:SHOWN]:
            name = _placed(names, lines, side, feed.tool)
            ends = f"{name} -> here" if side == "l" else f"here -> {name}"
            said = say("{field} fills {parameter}", field=feed.field, parameter=feed.parameter)
            lines.append(f'{ends} [label={quoted(said, _LONGEST)} style=dashed color="#2457a6" constraint=true];')
    return "\n".join([*lines, "}"])


def told_neighbours(found: Neighbours) -> str:
    """The same in words, for who cannot see it."""
    said = [say("before it {name}, {told}", name=_name(one.tool), told=_told(one)) for one in found.before[:SHOWN]]
    said += [say("after it {name}, {told}", name=_name(one.tool), told=_told(one)) for one in found.after[:SHOWN]]
    said += [
        say("{name} feeds its {parameter}", name=_name(one.tool), parameter=one.parameter)
        for one in best_of_each(found.feeds_in)[:SHOWN]
    ]
    said += [
        say("it feeds {parameter} of {name}", parameter=one.parameter, name=_name(one.tool))
        for one in best_of_each(found.feeds_out)[:SHOWN]
    ]
    return "; ".join(said)


def best_of_each(feeds: Iterable[Feed]) -> Sequence[Feed]:
    """Of the feeds of each tool the best."""
    best: dict[ToolId, Feed] = {}
    for one in feeds:
        if one.tool not in best or one.score > best[one.tool].score:
            best[one.tool] = one
    return sorted(best.values(), key=lambda one: -one.score)


def _placed(names: dict[tuple[str, str], str], lines: list[str], side: str, tool: ToolId) -> str:
    """A tool that comes both before and after is drawn on both sides."""
    if (side, tool) not in names:
        names[side, tool] = f"{side}{len(names)}"
        lines.append(f"{names[side, tool]} [label={_label(tool)}];")
    return names[side, tool]


def _told(walk: Walk) -> str:
    counts = [
        say("{count:,} imported", count=walk.imported) if walk.imported else "",
        say("{count:,} live", count=walk.live) if walk.live else "",
    ]
    return " · ".join(part for part in (say(MARKS.get(walk.mark or "", "")), f"{walk.weight:.2f}", *counts) if part)


def _name(tool: ToolId) -> str:
    return say("the end of a request") if tool == FINISH else tool_name(tool)


def _label(tool: ToolId) -> str:
    toolset, slash, api = tool_name(tool).rpartition(" / ")
    if not slash:
        return quoted(tool, _LONGEST)
    return quoted(api, _LONGEST)[:-1] + r"\n" + quoted(toolset, _LONGEST)[1:]
