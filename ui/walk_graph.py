"""The walk as a graph in Graphviz' language. Names and reasons are strangers' texts: all of them go through :func:`quoted`."""

from collections import defaultdict

from domain.tool import ToolId, split_tool_id
from ui.language import message, say
from ui.run_state import Node, Place, RunState

_LINE = 32
_SHOWN = 4
"""Considered candidates that are drawn at a node; the others are counted."""
_ROOM, _MOST = 60, 90
"""Nodes, from which on nothing is drawn that was only considered, and those that are drawn at most, the nearest to the requests first."""
_LOOK = {
    "chosen": 'style="filled,rounded" fillcolor="#d6f0e0" color="#1f7a4d" penwidth=1.6',
    "backtracked": 'style="filled,rounded,dashed" fillcolor="#fdeccf" color="#b26a00"',
    "considered": 'style="filled,rounded" fillcolor="#f6f7f9" color="#c3c8d0" fontcolor="#5b6470"',
}
_DONE = {"chosen": message("{tool} chosen: {reason}"), "backtracked": message("{tool} left again: {reason}")}
_STATES = {
    "chosen": message("chosen"),
    "backtracked": message("left again"),
    "considered": message("considered"),
}
_MORE = message("{weights}; {tool} fits the request more ({fits:.2f} against {other:.2f}).")
_SAME = message("{weights}; {tool} fits the request no more ({fits:.2f} against {other:.2f}).")
_LESS = message("{weights}; {tool} fits the request less ({fits:.2f} against {other:.2f}).")
_HEAD = (
    'digraph walk { rankdir=LR; bgcolor="transparent"; nodesep=0.12; ranksep=0.45;'
    ' node [shape=box fontname="sans-serif" fontsize=11 margin="0.12,0.06" height=0.3];'
    ' edge [color="#9aa3af" arrowsize=0.6];'
)


def walk_dot(story: RunState) -> str:
    """The graph: what was considered with its weight, what was chosen, what was left again, the reasons as tooltips."""
    children: defaultdict[Place, list[Place]] = defaultdict(list)
    for subtask, path in story.nodes:
        children[subtask, path[:-1]].append((subtask, path))
    names: dict[Place, str] = {}
    lines = [_HEAD]
    for subtask in sorted({subtask for subtask, _ in story.nodes}):
        root: Place = (subtask, ())
        names[root] = f"n{len(names)}"
        told = story.subtasks.get(subtask)
        title = told.name or told.description if told and len(story.subtasks) > 1 else say("request")
        look = 'shape=ellipse style=filled fillcolor="#e4ebf7" color="#2457a6"'
        lines.append(f"{names[root]} [label={quoted(title, 40)} {look}];")
        waiting = [root]
        while waiting:
            parent = waiting.pop(0)
            drawn, left = _drawn(story, children[parent], len(names))
            for place in drawn:
                names[place] = f"n{len(names)}"
                lines.append(_node(names[place], story.nodes[place]))
                lines.append(_edge(names[parent], names[place], story.nodes[place]))
            if left:
                more = f"{names[parent]}m"
                label = quoted(say("{count} more", count=left))
                lines.append(f'{more} [label={label} shape=plaintext fontcolor="#8a93a0"];')
                lines.append(f'{names[parent]} -> {more} [style=dotted arrowhead=none color="#c3c8d0"];')
            waiting += drawn
    return "\n".join([*lines, "}"])


def reasons(story: RunState, most: int) -> list[str]:
    """Why each tool was chosen or left, and, where one that weighs more was passed over, by how much and what spoke for the other: of the last so
    many places that the walk went to.
    """
    lines: list[str] = []
    beside: defaultdict[Place, list[Node]] = defaultdict(list)
    for (subtask, path), node in story.nodes.items():
        beside[subtask, path[:-1]].append(node)
    for subtask, path in went_to(story)[-most:]:
        node = story.nodes[subtask, path]
        if node.reason:
            lines.append(say(_DONE[node.state], tool=tool_name(node.tool), reason=node.reason))
        if node.state == "chosen" and (heavier := _heavier(node, beside[subtask, path[:-1]])):
            lines.append(_passed_over(node, heavier))
    return lines


def went_to(story: RunState) -> list[Place]:
    """The places that the walk did not only consider, in the order in which they were."""
    return [place for place, node in story.nodes.items() if node.state != "considered"]


def _heavier(node: Node, beside: list[Node]) -> Node | None:
    """The heaviest of those that were only considered beside it, where that one weighs more."""
    others = [one for one in beside if one.state == "considered" and (one.weight or 0) > (node.weight or 0)]
    return max(others, key=lambda one: one.weight or 0, default=None)


def _passed_over(node: Node, heavier: Node) -> str:
    weights = say(
        "{tool} weighs more on the way there ({weight:.2f} against {other:.2f})",
        tool=tool_name(heavier.tool),
        weight=heavier.weight or 0,
        other=node.weight or 0,
    )
    fits, other = node.relevance, heavier.relevance
    if fits is None or other is None:
        return say(
            "{weights}; a weight says what followed in earlier runs, not what this request asks for.", weights=weights
        )
    than = _MORE if fits > other else _SAME if fits == other else _LESS
    return say(than, weights=weights, tool=tool_name(node.tool), fits=fits, other=other)


def quoted(text: str, most: int = 200) -> str:
    """A string of Graphviz' language that is shown as ``text``: no escape, entity or end of string of its own."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    short = plain if len(plain) <= most else plain[: most - 1] + "…"
    return '"' + short.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"').replace("<", "&lt;") + '"'


def tool_name(tool: ToolId) -> str:
    """Tool set and API; what is no tool's id, as it is."""
    try:
        _, toolset, api = split_tool_id(tool)
    except ValueError:
        return tool
    return f"{toolset} / {api}"


def _two_lines(tool: ToolId) -> str:
    """The API above its tool set: real names are long, and a graph of wide boxes is read by nobody."""
    toolset, slash, api = tool_name(tool).rpartition(" / ")
    if not slash:
        return quoted(tool, _LINE)
    return quoted(api, _LINE)[:-1] + r"\n" + quoted(toolset, _LINE)[1:]


def _drawn(story: RunState, places: list[Place], before: int) -> tuple[list[Place], int]:
    """What is drawn below a node, and how many are not: all that the walk went to, and the heaviest of the others, as far as there is room after
    so many nodes ``before``.
    """
    taken = [place for place in places if story.nodes[place].state != "considered"]
    others = [place for place in places if story.nodes[place].state == "considered"]
    others.sort(key=lambda place: story.nodes[place].weight or 0.0, reverse=True)
    room = max(1, _SHOWN - len(taken)) if before < _ROOM else 0
    drawn = (taken + others[:room])[: max(0, _MOST - before)]
    return drawn, len(places) - len(drawn)


def _node(name: str, node: Node) -> str:
    weight = "" if node.weight is None else say("weight {weight:.2f}", weight=node.weight)
    relevance = "" if node.relevance is None else say("relevance {share:.2f}", share=node.relevance)
    tooltip = " · ".join(part for part in (say(_STATES[node.state]), weight, relevance, node.reason) if part)
    return f"{name} [label={_two_lines(node.tool)} tooltip={quoted(tooltip, 400)} {_LOOK[node.state]}];"


def _edge(source: str, target: str, node: Node) -> str:
    label = (
        "" if node.weight is None else f'label="{node.weight:.2f}" fontsize=9 fontname="sans-serif" fontcolor="#7a828e"'
    )
    taken = {"chosen": 'color="#1f7a4d" penwidth=1.8', "backtracked": 'color="#b26a00" style=dashed'}
    return f"{source} -> {target} [{label} {taken.get(node.state, '')}];"
