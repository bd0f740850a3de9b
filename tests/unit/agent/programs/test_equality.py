"""Which programs are equal: whatever they call their names, and never where they do something else."""

import pytest

from agent.programs.analysis.canonical_form import build_canonical_form, is_same_program
from domain.program import Program, ProgramPlan
from domain.tool import ToolId

TOOLS = {"search": ToolId("a/b/search"), "papers": ToolId("a/b/papers")}
ARGUMENTS = {"search": {"name": "name", "org": "organization"}, "papers": {"id": "id", "from_": "from"}}
GOLD = """found = await search(name=who, org="MIT")
best = None
for one in found:
    if best is None or one["cited"] > best["cited"]:
        best = one
titles = [p["title"] for p in await papers(id=best["id"], from_=2020)]
def short(text, most=3):
    return text[:most]
{"answered": "yes", "answer": f"{best['name']}: {', '.join([short(t) for t in titles]):>4} of them"}"""


def plan(text: str, *, tools: dict[str, ToolId] | None = None, **inputs: object) -> ProgramPlan:
    """A program; inputs are texts, with a default where one is given."""
    schemas = {name: {"type": "string"} if given is None else {"default": given} for name, given in inputs.items()}
    known = tools or TOOLS
    arguments = {name: ARGUMENTS[tool.rpartition("/")[2]] for name, tool in known.items()}
    program = Program(text=text, tools=known, arguments=arguments)
    return ProgramPlan(program=program, inputs=schemas)  # pyright: ignore[reportArgumentType]


SAME = {
    "layout and comments": GOLD.replace("best = None", "best=None   # the best\n\n"),
    "quotes and numbers": GOLD.replace('"', "'''").replace("2020", "2_020"),
    "a variable": GOLD.replace("found", "people").replace("best", "top"),
    "a name of a comprehension that another scope has": GOLD.replace("p[", "one[").replace("for p in", "for one in"),
    "a function and its parameters": GOLD.replace("short", "cut").replace("text", "t").replace("most", "n"),
    "the order of named arguments": GOLD.replace('name=who, org="MIT"', 'org="MIT", name=who'),
    "the order of keys": GOLD.replace('"answered": "yes", ', "").replace("of them\"}", 'of them", "answered": "yes"}'),
    "annotations": GOLD.replace("best = None", "best: dict | None = None").replace("(text,", "(text: str,"),
}  # fmt: skip
OTHER = {
    "another constant": GOLD.replace("MIT", "ETH"),
    "another type of a constant": GOLD.replace("2020", '"2020"'),
    "another field": GOLD.replace('one["cited"] >', 'one["papers"] >'),
    "another comparison": GOLD.replace(">", "<", 1),
    "another tool": GOLD.replace("await papers(", "await search("),
    "another argument": GOLD.replace("from_=2020", "until=2020"),
    "an argument less": GOLD.replace(', org="MIT"', ""),
    "two names for one": GOLD.replace("best = one", "other = one"),
    "the names of two exchanged": GOLD.replace("best['name']", "one['name']"),
    "another order": GOLD.replace("best = None\n", "").replace("found = await", "best = None\nfound = await"),
    "another verdict": GOLD.replace('"yes"', '"partly"'),
    "other words of the answer": GOLD.replace(" of them", " in all"),
    "another form of a value": GOLD.replace(":>4", ":>5"),
    "another default": GOLD.replace("most=3", "most=4"),
    "a list instead of a generator": GOLD.replace("[short(t) for t in titles]", "(short(t) for t in titles)"),
}  # fmt: skip


@pytest.mark.parametrize("what", SAME)
def test_equal_but_for(what: str) -> None:
    assert SAME[what] != GOLD
    assert is_same_program(plan(GOLD, who=None), plan(SAME[what], who=None))


@pytest.mark.parametrize("what", OTHER)
def test_not_equal_for(what: str) -> None:
    assert OTHER[what] != GOLD
    assert not is_same_program(plan(GOLD, who=None), plan(OTHER[what], who=None))


def test_inputs_are_what_they_are_for() -> None:
    text = "await search(name=a, org=b)"
    assert is_same_program(plan(text, a=None, b=None), plan("await search(org=y, name=x)", y=None, x=None))
    assert not is_same_program(plan(text, a=None, b=None), plan("await search(name=x, org=x)", x=None))
    assert not is_same_program(plan(text, a=None, b=None), plan("await search(name=x, org=y)", x=None, y="MIT"))
    assert not is_same_program(plan(text, a=None, b="ETH"), plan("await search(name=x, org=y)", x=None, y="MIT"))
    assert build_canonical_form(plan("await search(org=y, name=x)", y=None, x=None)).inputs == ("x", "y")
    assert build_canonical_form(plan("await search(name=x)", spare=None, x=None)).inputs == ("x", "spare")


def test_functions_are_their_tools() -> None:
    renamed = {"find_person": TOOLS["search"], "list_papers": TOOLS["papers"]}
    text = GOLD.replace("search(", "find_person(").replace("papers(", "list_papers(")
    assert is_same_program(plan(GOLD, who=None), plan(text, tools=renamed, who=None))
    swapped = {"search": TOOLS["papers"], "papers": TOOLS["search"]}
    assert not is_same_program(plan(GOLD, who=None), plan(GOLD, tools=swapped, who=None))


def test_the_words_of_the_answer_count_only_where_they_are_asked_for() -> None:
    worded = GOLD.replace(" of them", " were found").replace(": {'", " wrote {'")
    assert not is_same_program(plan(GOLD, who=None), plan(worded, who=None))
    assert is_same_program(plan(GOLD, who=None), plan(worded, who=None), wording=False)
    for what in set(OTHER) - {"other words of the answer"}:
        assert not is_same_program(plan(GOLD, who=None), plan(OTHER[what], who=None), wording=False), what
    asked = 'await search(name=f"{a} of MIT")'
    assert not is_same_program(plan(asked, a=None), plan(asked.replace("MIT", "ETH"), a=None), wording=False)


def test_a_text_that_cannot_be_read_equals_itself() -> None:
    assert is_same_program(plan("x = ("), plan("x = ("))
    assert not is_same_program(plan("x = ("), plan("y = ("))
