"""A tool of a source that is for nobody but its author, and all that knows of it."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from domain.program import Program, ProgramPlan
from domain.solution import Solution
from domain.tool import ToolId, make_tool_id
from graph.facts import GraphBatch
from server.storage.templates import TemplateContent
from server.storage.tool_library import NewToolMark
from tests.support.server_world import World
from tests.support.small_world import BOOKS, GEOCODE
from tests.support.source_samples import source_of

SAID = "vexillology"
"""Stands in all that tells of the hidden tool beside its id."""
NAMED = "gonfalon"
"""Stands in its id."""
HIDDEN = make_tool_id("harbour", "Harbour", f"list_{NAMED}s")
FORM: dict[str, Any] = {
    "name": f"list_{NAMED}s",
    "url": f"/{SAID}",
    "description": f"Find books by their title, and cities by name: {SAID}.",
    "parameters": [{"name": "city", "description": f"Of which {SAID}.", "example": SAID, "required": True}],
}


@dataclass(frozen=True)
class Known:
    """What there is. ``template``: its latest version calls the hidden tool; ``taken``: its second version does, and its first was taken."""

    source: str
    template: str
    taken: str
    solution: str


async def all_that_knows(world: World, taker: str) -> Known:
    """Admit the tool, and have everything know of it that may."""
    about: Any = {"name": f"Harbour {SAID}", "toolset": "Harbour", "tools": [FORM], "visibility": "users"}
    source = (await source_of("author", world, tested=True, **about))["source_id"]
    await world.services.sources.admit(source, [], world.people["author"])
    await world.services.agents.follower.follow()
    container = await world.services.agents.get_full_container()
    graph, pair = container.graph, {(BOOKS.id, HIDDEN): 9, (HIDDEN, GEOCODE.id): 9, (GEOCODE.id, HIDDEN): 9}
    await graph.apply(
        GraphBatch(key="hidden", transitions=Counter(pair), calls=Counter({HIDDEN: 9}), successes=Counter({HIDDEN: 9}))
    )
    await graph.mark(BOOKS.id, HIDDEN, "pin")
    admin = world.people["admin"]
    said = NewToolMark(tool=BOOKS.id, kind="edge", target=HIDDEN, mark="pin", reason=f"They go well with {SAID}.")
    await world.services.storage.tool_marks.add(said, admin.id, admin.name)
    return Known(source, *await _templates(world, taker), await _solution(world))


async def _templates(world: World, taker: str) -> tuple[str, str]:
    templates, author = world.services.storage.templates, world.people["author"].id
    calls = _calling(HIDDEN)
    hidden = await templates.add(author, f"The {SAID} of a harbour", calls, description=f"Tells its {SAID}.")
    both = await templates.add(author, "The books of a city", _calling(BOOKS.id))
    await templates.add_version(both.id, author, calls)
    for one in (hidden, both):
        await templates.change(one.id, author, shared=True)
    await world.services.storage.template_pins.pin(world.people[taker].id, both.id, 1)
    return hidden.id, both.id


def _calling(tool: ToolId) -> TemplateContent:
    note = f"Which {SAID}?" if tool == HIDDEN else "Which books?"
    return TemplateContent(parameters={}, plan={"program": {"text": "await act()", "tools": {"act": tool}}}, note=note)


async def _solution(world: World) -> str:
    container = await world.services.agents.get_full_container()
    program = Program(text="answer = list_them()\nanswer", tools={"list_them": HIDDEN})
    one = Solution(
        id="new", owner="", plan=ProgramPlan(program=program), patterns=(f"What {SAID} is there?",), path=(HIDDEN,),
        origin="person", at=datetime.now(UTC),
    )  # fmt: skip
    (kept,) = await (await container.solutions("")).add([one])
    return kept
