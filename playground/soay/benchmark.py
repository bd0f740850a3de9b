"""The benchmark of a scenario, built: every question with its gold program, whose answer on the running service must be the world's own."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import httpx

from domain.errors import UsageError
from domain.tool import ToolDoc
from playground.calls import request_for
from playground.gold_programs import Operation, tools_of, value_of
from playground.soay import books_templates, scholar_templates, works_templates
from playground.soay.application import Scenario
from playground.soay.template import Gold, Template, Values

ENTITIES = 18
"""Questions of a template, as in SoAyBench's test part."""
Language = Literal["en", "zh"]
TEMPLATES: Mapping[Scenario, Sequence[Template]] = {
    "scholar": scholar_templates.TEMPLATES,
    "works": works_templates.TEMPLATES,
    "books": books_templates.TEMPLATES,
}


@dataclass(frozen=True, slots=True)
class Built:
    """A question. ``place``: of its values among those of its template, from 1."""

    scenario: Scenario
    template: Template
    place: int
    request: str
    values: Values
    gold: Gold

    @property
    def id(self) -> str:
        return f"{self.scenario}-{self.template.number}-{self.place}"


def built(scenario: Scenario, language: Language = "en", entities: int = ENTITIES) -> list[Built]:
    """All questions of a scenario, by template."""
    return [one for template in TEMPLATES[scenario] for one in _questions(scenario, template, language, entities)]


async def checked(questions: Iterable[Built], client: httpx.AsyncClient) -> list[str]:
    """The questions whose gold program, run on the service behind ``client``, says something else than the world: none, if all is well."""
    document = (await client.get("/openapi.json")).raise_for_status().content
    tools = await asyncio.to_thread(tools_of, document)
    operations = {name: _operation(client, tool) for name, tool in tools.items()}
    wrong: list[str] = []
    for one in questions:
        names: dict[str, Any] = {**operations, **one.values, "asyncio": asyncio}
        value: object = await value_of(one.template.program, names)
        if not agrees(value, one.gold):
            wrong.append(f"{one.id}: {value!r}, and the world says {one.gold}")
    return wrong


def _operation(client: httpx.AsyncClient, tool: ToolDoc) -> Operation:
    async def call(**arguments: Any) -> Any:
        return (await client.send(request_for(client, tool, arguments))).raise_for_status().json()

    return call


def agrees(value: object, gold: Gold) -> bool:
    """Whether a program's plain answer is the gold one; lists are sets. What the question names may be in a list, or not."""
    match value:
        case list() | tuple():
            said = {str(one) for one in value}  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
            return all(any(way in said for way in ways) for ways in gold.texts) and not said & set(gold.others)
        case bool() | None:
            return False
        case int() | float():
            return gold.numbers == (float(value),)
        case _:
            return len(gold.texts) == 1 and str(value) in gold.texts[0]


def stratified(questions: Sequence[Built], limit: int) -> list[Built]:
    """So many, the templates in turn: of each nearly as many as of each other, as the hops are shared out among the templates.

    Raises:
        UsageError: there are none.
    """
    by_template: dict[int, list[Built]] = {}
    for one in questions:
        by_template.setdefault(one.template.number, []).append(one)
    if not by_template:
        raise UsageError("no question is left to ask")
    return list(_in_turn(by_template.values()))[:limit]


def _in_turn(parts: Iterable[list[Built]]) -> Iterator[Built]:
    left = list(parts)
    # Fewer than there are templates: spread over all of them rather than the first ones, so that each hop has its share.
    order = sorted(range(len(left)), key=lambda at: at * 7 % len(left))
    for place in range(max(map(len, left))):
        for at in order:
            if place < len(left[at]):
                yield left[at][place]


def _questions(scenario: Scenario, template: Template, language: Language, entities: int) -> Iterator[Built]:
    worded = template.english if language == "en" else template.chinese
    for place, (values, gold) in enumerate(template.questions(entities), start=1):
        yield Built(scenario, template, place, worded.format(**values), values, gold)
