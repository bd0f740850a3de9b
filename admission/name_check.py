"""Third check: whether a tool has the name of another, or one that can be confused with it."""

from collections.abc import Iterator

from admission.findings import failed, passed, warned
from admission.known_names import KnownNames, mixed_scripts, skeleton
from admission.signs import visible
from domain.source import Finding
from domain.tool import ToolDoc, tool_id_parts


def check_name(tool: ToolDoc, known: KnownNames, own: KnownNames) -> list[Finding]:
    """Check a tool's name against the tools of other sources, and against those of its own source."""
    return [*_taken(tool, known), *_alike(tool, known), *_beside(tool, own)] or [
        passed("name", f"nothing else is called {tool.api} in {tool.toolset}")
    ]


def _taken(tool: ToolDoc, known: KnownNames) -> Iterator[Finding]:
    if tool.id in known.ids:
        yield failed(
            "name",
            f"another source has a tool {tool.api} in {tool.category} / {tool.toolset}",
            "give this source another tool set or category",
        )
    elif (found := known.functions.get(tool.function)) is not None:
        other = known.told(found)
        yield warned(
            "name",
            f"{other} is called {tool.function}, too: past calls of that name may count for either",
            "give this source's tool set a name of its own",
            other=other,
        )


def _alike(tool: ToolDoc, known: KnownNames) -> Iterator[Finding]:
    for what, name in (("name", tool.api), ("tool set", tool.toolset), ("category", tool.category)):
        if scripts := mixed_scripts(name):
            yield failed(
                "name",
                f"its {what} {visible(name)[:80]} mixes letters of {' and '.join(one.title() for one in scripts)} that look alike",
                "write it in one script",
            )
            return
    like = known.find_toolset_alike(tool.toolset)
    category, toolset, _ = tool_id_parts(like) if like is not None else ("", "", "")
    if toolset:
        other = (
            "that of a tool that is for others" if like in known.hidden else f"“{visible(toolset)[:80]}” of {category}"
        )
        told = f"its tool set “{visible(tool.toolset)[:80]}” looks like {other}"
        advice = "give this source's tool set a name that nobody takes for the other"
        if skeleton(toolset, letters=False) == skeleton(
            tool.toolset, letters=False
        ):  # they differ in case and separators only
            yield warned("name", told, advice)
        else:
            yield failed("name", told, advice)
    other = known.alike.get(skeleton(tool.function))
    if other is not None and known.function_of(other) != tool.function:
        yield warned(
            "name",
            f"its function {visible(tool.function)} looks like that of {known.told(other)}",
            "give it another name",
            other=known.told(other),
        )
    elif tool.id not in known.ids and tool.function not in known.functions:
        yield from _shadowing(tool, known)


def _shadowing(tool: ToolDoc, known: KnownNames) -> Iterator[Finding]:
    """Report a tool of another tool set that a reader or a model could confuse with this one (tool shadowing).

    Their function names differ only by the names of the tool sets.
    """
    other = known.find_api_alike(tool.api)
    if other is None:
        return
    api = tool_id_parts(other)[2]
    told = (
        f"{known.told(other)} has its name, {visible(tool.api)[:80]}, too: it may be called where the other is meant"
        if api == tool.api
        else f"its name {visible(tool.api)[:80]} looks like that of {known.told(other)}: it may be called where the other is meant"
    )
    yield warned(
        "name", told, "see that it does not pass for the other; if it is another thing, give it a name of its own",
        other=known.told(other),
    )  # fmt: skip


def _beside(tool: ToolDoc, own: KnownNames) -> Iterator[Finding]:
    other = own.alike.get(skeleton(tool.function))
    if other is not None and other != tool.id and own.function_of(other) != tool.function:
        yield warned("name", f"it looks like {other} of the same source", "give one of them another name", other=other)
