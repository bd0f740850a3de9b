"""Which call feeds which, out of texts as models write them."""

import pytest

from agent.programs.analysis.program_flow import Site, find_call_dependencies, parse_site
from domain.program import Program
from domain.tool import ToolId

TOOLS = {name: ToolId(f"c/s/{name}") for name in "abcd"}


def read(*texts: str) -> tuple[set[str], set[str]]:
    """The pairs and the ends, by the functions' names."""
    cells = {number: Program(text=text, tools=TOOLS) for number, text in enumerate(texts, start=1)}
    found = find_call_dependencies(cells)

    def name(site: Site) -> str:
        return texts[site[0] - 1].encode()[site[1] : site[1] + 1].decode()

    return {name(one) + name(other) for one, other in found.pairs}, {name(one) for one in found.end_calls}


@pytest.mark.parametrize(
    ("text", "pairs", "ends"),
    [
        ("x = await a()\ny = await b(i=x['id'])\ny", {"ab"}, {"b"}),
        ("x = await a()\nx = await b()\nawait c(i=x)", {"bc"}, {"a", "c"}),
        ("[await b(i=one['id']) for one in await a()]", {"ab"}, {"b"}),
        ("await asyncio.gather(*(b(i=one) for one in await a()))", {"ab"}, {"b"}),
        ("x, y = await asyncio.gather(a(), b())\n(await c(i=x), await d(i=y))", {"ac", "bd"}, {"c", "d"}),
        ("found = []\nfor one in await a():\n    found.append(one['id'])\nawait b(ids=found)", {"ab"}, {"b"}),
        ("found = {}\nfor one in await a():\n    found[one] = await b(i=one)\nlen(found)", {"ab"}, {"a", "b"}),
        ("t = {}\nfor one in ('x', 'y'):\n    p = await a(c=one)\n    t[one] = await b(i=p['id'])\nt", {"ab"}, {"b"}),
        ("x = await a()\nif x['open']:\n    y = 'open'\nelse:\n    y = 'shut'\ny", set[str](), {"a"}),
        ("x = None\nfor one in await a():\n    if (await b(i=one))['n'] > 2:\n        x = one\nx", {"ab"}, {"a", "b"}),
        ("try:\n    x = await a()\nexcept ToolError:\n    x = await b()\nawait c(i=x)", {"ac", "bc"}, {"c"}),
        ("async def f(one):\n    return await b(i=one)\nx = await a()\nawait f(x['id'])", {"ab"}, {"b"}),
        ("x = await a()\nbest = max(x, key=lambda one: one['n'])\nawait b(i=best['id'])\nbest['n']", {"ab"}, {"a", "b"}),
        ("cursor = ''\nwhile cursor is not None:\n    page = await a(c=cursor)\n    cursor = page['next']\npage", set[str](), {"a"}),
        ("x = await a()\nawait b(t='fixed')\n'done'", set[str](), {"a", "b"}),
        ("if (x := await a()):\n    y = await b(i=x)\nelse:\n    y = 0\nf'{y:>4}'", {"ab"}, {"a", "b"}),
    ],
)  # fmt: skip
def test_what_feeds_what(text: str, pairs: set[str], ends: set[str]) -> None:
    found, end = read(text)
    assert found == pairs
    assert end == ends


def test_a_cell_knows_the_names_of_those_before_it() -> None:
    assert read("x = await a()\nlook(x)\n", "y = await b(i=x[0])\ny") == ({"ab"}, {"b"})


def test_places_are_counted_in_bytes() -> None:
    text = "é = '日本'; x = await a(n=é)\ny = await b(i=x)"
    [(one, other)] = find_call_dependencies({1: Program(text=text, tools=TOOLS)}).pairs
    assert text.encode()[one[1] :].startswith(b"a(")
    assert text.encode()[other[1] :].startswith(b"b(")


def test_a_place_is_read_off_what_is_told() -> None:
    assert parse_site("2:57#0") == (2, 57)
    assert parse_site("3:57~1#0") == (2, 57)
    assert parse_site("") is None
