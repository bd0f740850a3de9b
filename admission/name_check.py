"""Third check: whether a tool has the name of another, or one that can be confused with it."""

from collections.abc import Iterator

from admission.findings import report_failure, report_pass, report_warning
from admission.injection_signs import make_visible
from admission.known_names import KnownNames, build_skeleton, find_mixed_scripts
from domain.tool import ToolDoc, split_tool_id
from domain.tool_source import Finding


def check_name(tool: ToolDoc, known_names: KnownNames, own_names: KnownNames) -> list[Finding]:
    """Check a tool's name against the tools of other sources, and against those of its own source."""
    return [
        *_check_duplicates(tool, known_names),
        *_check_lookalikes(tool, known_names),
        *_check_own_source(tool, own_names),
    ] or [report_pass("name", f"nothing else is called {tool.api} in {tool.toolset}")]


def _check_duplicates(tool: ToolDoc, known_names: KnownNames) -> Iterator[Finding]:
    if tool.id in known_names.ids:
        yield report_failure(
            "name",
            f"another source has a tool {tool.api} in {tool.category} / {tool.toolset}",
            "give this source another tool set or category",
        )
    elif (known_tool := known_names.functions.get(tool.function)) is not None:
        other = known_names.get_display_name(known_tool)
        yield report_warning(
            "name",
            f"{other} is called {tool.function}, too: past calls of that name may count for either",
            "give this source's tool set a name of its own",
            other=other,
        )


def _check_lookalikes(tool: ToolDoc, known_names: KnownNames) -> Iterator[Finding]:
    for what, name in (("name", tool.api), ("tool set", tool.toolset), ("category", tool.category)):
        if scripts := find_mixed_scripts(name):
            yield report_failure(
                "name",
                f"its {what} {make_visible(name)[:80]} mixes letters of {' and '.join(script.title() for script in scripts)} that look alike",
                "write it in one script",
            )
            return
    alike_tool = known_names.find_toolset_alike(tool.toolset)
    category, toolset, _ = split_tool_id(alike_tool) if alike_tool is not None else ("", "", "")
    if toolset:
        other = (
            "that of a tool that is for others"
            if alike_tool in known_names.hidden
            else f"“{make_visible(toolset)[:80]}” of {category}"
        )
        message = f"its tool set “{make_visible(tool.toolset)[:80]}” looks like {other}"
        advice = "give this source's tool set a name that nobody takes for the other"
        if build_skeleton(toolset, letters=False) == build_skeleton(
            tool.toolset, letters=False
        ):  # they differ in case and separators only
            yield report_warning("name", message, advice)
        else:
            yield report_failure("name", message, advice)
    other = known_names.functions_by_look.get(build_skeleton(tool.function))
    if other is not None and known_names.get_function(other) != tool.function:
        yield report_warning(
            "name",
            f"its function {make_visible(tool.function)} looks like that of {known_names.get_display_name(other)}",
            "give it another name",
            other=known_names.get_display_name(other),
        )
    elif tool.id not in known_names.ids and tool.function not in known_names.functions:
        yield from _check_shadowing(tool, known_names)


def _check_shadowing(tool: ToolDoc, known_names: KnownNames) -> Iterator[Finding]:
    """Report a tool of another tool set that a reader or a model could confuse with this one (tool shadowing).

    Their function names differ only by the names of the tool sets.
    """
    other = known_names.find_api_alike(tool.api)
    if other is None:
        return
    api = split_tool_id(other)[2]
    message = (
        f"{known_names.get_display_name(other)} has its name, {make_visible(tool.api)[:80]}, too: it may be called where the other is meant"
        if api == tool.api
        else f"its name {make_visible(tool.api)[:80]} looks like that of {known_names.get_display_name(other)}: it may be called where the other is meant"
    )
    yield report_warning(
        "name", message, "see that it does not pass for the other; if it is another thing, give it a name of its own",
        other=known_names.get_display_name(other),
    )  # fmt: skip


def _check_own_source(tool: ToolDoc, own_names: KnownNames) -> Iterator[Finding]:
    other = own_names.functions_by_look.get(build_skeleton(tool.function))
    if other is not None and other != tool.id and own_names.get_function(other) != tool.function:
        yield report_warning(
            "name", f"it looks like {other} of the same source", "give one of them another name", other=other
        )
