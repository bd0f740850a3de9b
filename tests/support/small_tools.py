"""Two tools to make plans of, and how long a request may hold the loop."""

from typing import Any

from domain.tool import Parameter, ToolDoc, make_tool_id

HELD = 0.5
"""Seconds of processor time: some 0.05 on an idle machine, where it once took up to 33, and several times that on a busy one."""
FIND = ToolDoc(
    id=make_tool_id("places", "search", "find_city"),
    category="places",
    toolset="search",
    api="find_city",
    function="find_city",
    description="Finds a city.",
    method="GET",
    parameters=(Parameter(name="city", type="string", required=True),),
)
SEND = ToolDoc(
    id=make_tool_id("money", "pay", "send"),
    category="money",
    toolset="pay",
    api="send",
    function="send",
    description="Sends money.",
    method="POST",
    parameters=(Parameter(name="to", type="string", required=True), Parameter(name="for", type="array")),
)
STEP: dict[str, Any] = {"tool": FIND.id}
