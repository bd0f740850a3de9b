"""Programs are checked before anything is called: nothing is said against right ones, slips are put right or told."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from agent.programs.program_checks import MAX_COMPLAINTS, CheckedProgram, check_program, find_type_complaints
from agent.programs.program_types import SandboxLimits
from agent.programs.sandbox import MontySandbox
from agent.programs.signatures import render_offer
from tests.support.good_programs import PROGRAMS
from tests.unit.agent.programs.test_signatures_of_catalogues import PLAYGROUND, catalogue

DOCS = catalogue(PLAYGROUND)
OFFER = render_offer(DOCS)
BY_ID = {doc.id: doc for doc in DOCS}
FUNCTIONS = {one.name: BY_ID[one.tool] for one in OFFER.signatures}
END = '\n{"answered": "yes", "answer": 1}'


@pytest_asyncio.fixture
async def sandbox() -> AsyncIterator[MontySandbox]:
    made = MontySandbox(SandboxLimits(workers=1))
    yield made
    await made.close()


async def checked(sandbox: MontySandbox, text: str) -> CheckedProgram:
    return await check_program(text, OFFER, FUNCTIONS, sandbox, {"earlier": "list[str]"})


async def test_nothing_is_said_against_right_programs(sandbox: MontySandbox) -> None:
    false_alarms = {text: said for text in PROGRAMS if (said := (await checked(sandbox, text)).complaints)}
    assert false_alarms == {}
    assert len(PROGRAMS) == 30


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = (", "Line 1 is no Python"),
        ("", "no program"),
        ("# only a remark", "no program"),
        ("x = " + "-" * 100 + "1", "too deeply nested"),
        ("x = 1\n" * 9000, "longer than"),
        ('await searchPersons(name="a")' + END, "There is no `searchPersons`: did you mean `searchPerson`?"),
        ("await unheardOf(x=1)" + END, "There is no function `unheardOf`"),
        ("callable(1)" + END, "There is no function `callable`"),
        ('await searchPerson(nme="a")' + END, "no parameter `nme`: did you mean `name`?"),
        ("await getCoauthors()" + END, "lacks `person_id`"),
        ('await getCoauthors(*["a"])' + END, "takes its arguments by name"),
        ("f = getCoauthors" + END, "can only be called"),
        ("getCoauthors = 1" + END, "one of the functions"),
        ("def g():\n    yield 1" + END, "`yield` is not there"),
        ("class A(Exception):\n    pass" + END, "Classes cannot inherit"),
        ("import statistics" + END, "`statistics` cannot be imported: compute with sum"),
        ("import os" + END, "no access to the machine"),
        ("from math import *" + END, "import what is used by name"),
        ("eval('1')" + END, "no function `eval`"),
        ("x = ().__class__\nopen('a')" + END, "no function `open`"),
        ("with x as y:\n    pass" + END, "`with` is not there"),
        ("earlier = 1\ndel earlier" + END, "`del` is not there"),
        ('import asyncio\nawait asyncio.gather(geocode(q="a"), return_exceptions=True)' + END, "catch ToolError in a small async function"),
        ('def one(q):\n    return (await geocode(q=q))[0]\none("a")', "which is not async"),
        ('def one(q):\n    found = geocode(q=q)\n    return found[0]\none("a")', "`geocode(...)` is not awaited"),
        ('for x in earlier:\n    await geocode(q=x)', "ends without an answer"),
        ("def f():\n    look(1)\nf()\n1", "stands alone on a line"),
        ("total + 1", "The name `total` has no value"),
        ('p = await searchPerson(name="a")\np[0]["citations"]', 'no field "citations" in what `searchPerson` answers, but \'person_id\', \'name\''),
        ('await getCoauthors(person_id=[1])' + END, "takes str, and is given list"),
        ('await find_company(name="a", sector="foods")' + END, "is given Literal"),
        ('p = await searchPerson(name="a")\np.items()', "`items`"),
        ('p = await searchPerson(name="a")\np[0]["name"] + 1', "`+`"),
    ],
)  # fmt: skip
async def test_slips_are_told(sandbox: MontySandbox, text: str, told: str) -> None:
    said = (await checked(sandbox, text)).complaints
    assert any(told in one for one in said), said
    assert len(said) <= MAX_COMPLAINTS


async def test_where_no_function_is_known_yet_none_is_listed(sandbox: MontySandbox) -> None:
    [said] = (await check_program("await searchPerson(name='a')" + END, render_offer([]), {}, sandbox, {})).complaints
    assert "There is no function `searchPerson`: none is known yet" in said


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ('p = geocode(q="a")[0]\np["lat"]', "p = (await geocode(q='a'))[0]\np['lat']"),
        ('p = geocode(q="a")\np[0]', "p = await geocode(q='a')\np[0]"),
        ('geocode("a")', "await geocode(q='a')"),
        ('await geocode(**{"q": "a"})', "await geocode(q='a')"),
        ('await getTeamSquad(team_id=1)', "await getTeamSquad(teamId=1)"),
        ('print(await geocode(q="a"))', "await geocode(q='a')"),
        ('answer = await geocode(q="a")', "answer = await geocode(q='a')\nanswer"),
        ('return await geocode(q="a")', "await geocode(q='a')"),
        ("from tools import geocode, look\n1", "1"),
        ('import asyncio\nasync def main():\n    return await geocode(q="a")\nasyncio.run(main())', "import asyncio\nawait geocode(q='a')"),
        ('async def main():\n    x = geocode(q="a")\n    print(x)\nif __name__ == "__main__":\n    main()', "x = await geocode(q='a')\nx"),
        ('import asyncio\nt = asyncio.create_task(geocode(q="a"))\nawait t', "import asyncio\nt = geocode(q='a')\nawait t"),
        ("next((x for x in earlier if x), None)", "first([x for x in earlier if x], None)"),
        ("next(x for x in earlier)", "[x for x in earlier][0]"),
        ("if earlier:\n    print(1)\nelse:\n    2", "if earlier:\n    result = 1\nelse:\n    result = 2\nresult"),
        ("async def f(x):\n    return x\nf(1)", "async def f(x):\n    return x\nawait f(1)"),
        ('f"{earlier[0]} {{ok}} {dict(a=1)["a"]:.1f} {"x"}" + f\'{"it"}\'', "f\"{earlier[0]} {{ok}} {dict(a=1)['a']:.1f} {'x'}\" + f'{\"it\"}'"),
        ("ﬁrst(earlier)", "first(earlier)"),
        ("c = {'a': 1}\nmax(c, key=c.get)", "c = {'a': 1}\nmax(c, key=lambda item_: c.get(item_))"),
        ("first = {'a': 1}\nfirst.get('a')", "first = {'a': 1}\nfirst.get('a')"),
        ("first = next((x for x in earlier), 0)\nfirst", "first = ([x for x in earlier] or [0])[0]\nfirst"),
        ("async def tried(call):\n    return await call\nawait tried(geocode(q='a'))", "async def tried(call):\n    return await call\nawait tried(geocode(q='a'))"),
        ("sorted(earlier, key=str.lower)", "sorted(earlier, key=lambda item_: item_.lower())"),
        ("list(map(str.strip, earlier))", "list(map(lambda item_: item_.strip(), earlier))"),
        ("str.lower(earlier[0])", "earlier[0].lower()"),
        ("dict.fromkeys(earlier)", "dict.fromkeys(earlier)"),
        ("set = {1}\nset.union({2})", "set = {1}\nset.union({2})"),
        (
            "set.intersection(*[{1}, {1, 2}])",
            "from functools import reduce\nreduce(lambda one_, other_: one_.intersection(other_), [*[{1}, {1, 2}]])",
        ),
        ("{1}.union({2}, *[{3}])", "from functools import reduce\nreduce(lambda one_, other_: one_.union(other_), [{1}, {2}, *[{3}]])"),
        ("re.sub('a', 'b', earlier[0])", "import re\nre.sub('a', 'b', earlier[0])"),
        ("datetime.date.fromisoformat(today).year", "import datetime\ndatetime.date.fromisoformat(today).year"),
        ("datetime.fromisoformat(today).year", "from datetime import datetime\ndatetime.fromisoformat(today).year"),
        ("timedelta(days=1).days", "from datetime import timedelta\ntimedelta(days=1).days"),
        ("asyncio = {'a': 1}\nasyncio.get('a')", "asyncio = {'a': 1}\nasyncio.get('a')"),
    ],
)  # fmt: skip
async def test_what_can_mean_one_thing_is_put_right(sandbox: MontySandbox, text: str, right: str) -> None:
    made = await checked(sandbox, text)
    assert made.text == right
    assert made.complaints == ()


async def test_a_right_text_stays_as_it_was_written(sandbox: MontySandbox) -> None:
    text = 'x = [1]   # a remark\n{"answered": "yes", "answer": x}'
    assert await checked(sandbox, text) == CheckedProgram(text)


@pytest.mark.parametrize(
    ("expected", "given", "complains"),
    [
        ('Literal["true", "false"]', "Literal[True]", False),
        ("Literal[1, 2]", 'Literal["2"]', False),
        ('list[Literal["live", "paid"]]', 'Literal["live"]', False),
        ('list[Literal["live", "paid"]]', 'Literal["dead"]', True),
        ('Literal["true", "false"]', 'Literal["maybe"]', True),
        ('Literal["a", "b", ... omitted 9 literals]', 'Literal["z"]', True),
        ("list[str]", 'Literal["a,b"]', True),
    ],
)
def test_a_value_that_a_call_turns_into_an_allowed_one_is_no_slip(expected: str, given: str, complains: bool) -> None:
    message = f"Argument to function `geocode` is incorrect: Expected `{expected}`, found `{given}`"
    said = list(
        find_type_complaints(
            [f"1:1: error[invalid-argument-type] {message}"], {one.name: one for one in OFFER.signatures}, {}
        )
    )
    assert bool(said) == complains
