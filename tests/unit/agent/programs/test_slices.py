"""Slices: what the arguments of a program's calls are made of, found in its text alone."""

import ast
from collections.abc import Sequence

import pytest

from agent.programs.analysis.slices import SliceContext, SlicedProgram, is_answer_from_calls
from domain.program import Program
from domain.provenance import Slice
from domain.tool import ToolId

TOOLS = {name: ToolId(f"c/t/{name}") for name in ("getTasks", "getUser", "getRates", "createNote", "sendMail")}
INPUTS = {"today": ToolId(""), "mails": TOOLS["getTasks"]}


def program(*cells: str, said: Sequence[str] = ()) -> SlicedProgram:
    arguments = {"sendMail": {"to": "to", "text": "body.text"}}
    return SlicedProgram(cells, SliceContext(TOOLS, arguments, said, INPUTS))


def last_call(text: str, function: str = "sendMail") -> tuple[str, int, int]:
    """Where the last call of a function stands, in UTF-8 bytes."""
    lines = text.encode().splitlines(keepends=True)
    call = [one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)]
    (found,) = [one for one in call if isinstance(one.func, ast.Name) and one.func.id == function][-1:]
    assert found.end_lineno is not None
    assert found.end_col_offset is not None
    before, until = sum(map(len, lines[: found.lineno - 1])), sum(map(len, lines[: found.end_lineno - 1]))
    return function, before + found.col_offset, until + found.end_col_offset


def sliced(*cells: str, said: Sequence[str] = (), parameter: str = "to") -> Slice:
    slices = program(*cells, said=said).slice_arguments(*last_call(cells[-1]))
    (found,) = [one for one in slices if one.parameter == parameter]
    return found


def sources(*cells: str, said: Sequence[str] = ()) -> set[str]:
    return {f"{one.kind} {one.name}" for one in sliced(*cells, said=said).sources}


TASKS, USER, RATES = "call getTasks", "call getUser", "call getRates"


@pytest.mark.parametrize(
    ("text", "made_of"),
    [
        ('await sendMail(to="ada")', {"said 'ada'"}),
        ('await sendMail(to="bob")', {"constant 'bob'"}),
        ("await sendMail(to=today)", {"input today"}),
        ('await sendMail(to=mails[0]["from"])', {"input mails"}),
        ('u = await getUser(id="ada")\nawait sendMail(to=u["mail"])', {USER}),
        ('await sendMail(to=(await getUser(id=1))["mail"])', {USER}),
        ("u = await getUser()\nawait sendMail(to=f'{u[0]} <ada>')", {USER, "constant ' <ada>'"}),
        ('x = await getUser()\nx = "bob"\nawait sendMail(to=x)', {"constant 'bob'"}),
        ('x = await getUser()\nif today:\n    x = "bob"\nawait sendMail(to=x)', {USER, "constant 'bob'", "input today"}),
        ('x = "bob"\nawait sendMail(to=x)\nx = await getUser()', {"constant 'bob'"}),
        ('x = "bob"\nfor i in range(9):\n    await sendMail(to=x)\n    x = await getUser()', {"constant 'bob'", USER}),
        ("for t in await getTasks():\n    await sendMail(to=t)", {TASKS}),
        ("a, b = await asyncio.gather(getTasks(), getUser())\nawait sendMail(to=b)", {USER}),
        ("a, b = (await getTasks())[0]\nawait sendMail(to=b)", {TASKS}),
        ("a, *b = await getTasks(), await getUser()\nawait sendMail(to=a)", {TASKS, USER}),
        ("f = [t for t in await getTasks() if t > today]\nawait sendMail(to=f[0])", {TASKS, "input today"}),
        ("n = len(await getTasks())\nawait sendMail(to=str(n))", {TASKS}),
        ("n = 0\nfor t in await getTasks():\n    n += 1\nawait sendMail(to=n)", {TASKS, "constant 0", "constant 1"}),
        ("best = max(await getTasks(), key=lambda t: t['n'])\nawait sendMail(to=best)", {TASKS}),
        ("x = 'yes' if await getUser() else 'no'\nawait sendMail(to=x)", {USER, "constant 'yes'", "constant 'no'"}),
        ("if (x := await getUser()):\n    await sendMail(to=x)", {USER}),
        ("try:\n    await getUser()\nexcept ToolError as e:\n    await sendMail(to=str(e))", {"error getUser"}),
        ("async def f():\n    return await getUser()\ntry:\n    await f()\nexcept ToolError as e:\n    await sendMail(to=str(e))", {"error getUser"}),
        ("def f(x):\n    return x\nawait sendMail(to=f(await getUser()))", {USER}),
        ("async def f(x, y='bob'):\n    await sendMail(to=x)\nawait f(await getUser(), y='eve')", {USER, "constant 'bob'"}),
        ("async def f(x):\n    await sendMail(to=x)\nawait asyncio.gather(*[f(t) for t in await getTasks()])", {TASKS}),
        ("async def f(x):\n    await sendMail(to=x)\nawait asyncio.gather(*map(f, await getTasks()))", {TASKS}),
        ("f = lambda x: x + await_\nawait sendMail(to=f(1))", {"unknown await_", "constant 1"}),
        ("f = getUser\nawait sendMail(to=await f(id='bob'))", {USER, "constant 'bob'"}),
        ("match await getUser():\n    case {'a': x}:\n        await sendMail(to=x)", {USER}),
        ("await sendMail(to=nobody)", {"unknown nobody"}),
        ("await sendMail(to={'a': 'bob'}.get('a', 'eve'))", {"constant 'a'", "constant 'bob'", "constant 'eve'"}),
        ("x = await getTasks()\nx = x['a'] + today\nawait sendMail(to=x)", {TASKS, "input today"}),
    ],
)  # fmt: skip
def test_what_an_argument_is_made_of(text: str, made_of: set[str]) -> None:
    assert sources(text, said=["Write to Ada about it"]) == made_of


@pytest.mark.parametrize(
    "text",
    [
        "x = []\nx.append(await getUser())\nawait sendMail(to=x[0])",
        "x = {}\nx['a'] = await getUser()\nawait sendMail(to=x)",
        "x = {}\nx.update(await getUser())\nawait sendMail(to=x)",
        "x = []\ny = x\ny.append(await getUser())\nawait sendMail(to=x[0])",
        "x = []\ny = x\nx.append(await getUser())\nawait sendMail(to=y[0])",
        "x = {'a': []}\nfor y in x.values():\n    y.append(await getUser())\nawait sendMail(to=x)",
        "x = {}\nx.setdefault('a', []).append(await getUser())\nawait sendMail(to=x)",
        "def put(d, v):\n    d['a'] = v\nx = {}\nput(x, await getUser())\nawait sendMail(to=x)",
        "x = []\nasync def f():\n    x.append(await getUser())\nawait f()\nawait sendMail(to=x)",
        "x = ''\nasync def f():\n    global x\n    x = await getUser()\nawait f()\nawait sendMail(to=x)",
        "x = []\nwhile len(x) < 3:\n    await sendMail(to=x)\n    x += [await getUser()]",
        "x, y = [], []\ny.append(x)\nx.append(await getUser())\nawait sendMail(to=y)",
    ],
)
def test_what_is_put_into_a_value_is_in_it(text: str) -> None:
    assert USER in sources(text)


def test_names_of_functions_and_comprehensions_are_their_own() -> None:
    text = """x = "bob"
def f():
    x = today
    return x
y = [x for x in await getTasks()]
await sendMail(to=x)"""
    assert sources(text) == {"constant 'bob'"}


def test_what_earlier_cells_found_is_followed() -> None:
    found = sliced('u = await getUser(id=1)\nx = "bob"', "v = u", "u = 3\nawait sendMail(to=v['mail'])")
    assert {(one.kind, one.name, one.line) for one in found.sources} == {("call", "getUser", 0)}
    assert found.lines == (2,)


def test_a_slice_says_under_which_conditions_the_call_is_made() -> None:
    text = """async def one(t):
    if not t["mail"]:
        return
    await sendMail(to=t["mail"])
for t in await getTasks():
    if t["late"]:
        await one(t)"""
    found = sliced(text)
    assert set(found.conditions) == {"not t['mail']", "t['late']"}
    assert "only where `not t['mail']`; `t['late']`" in found.words


def test_what_a_list_is_chosen_by_is_a_condition_of_the_calls_in_it() -> None:
    text = "x = [sendMail(to=t['mail']) for t in mails if t['late']]"
    assert sliced(text).conditions == ("t['late']",)


def test_a_slice_is_told_to_a_person_without_lines_and_expressions() -> None:
    text = 'tasks = await getTasks()\nsum_ = sum(t["cost"] for t in tasks)\nawait sendMail(to="ada", text=f"{sum_} on {today}")'
    assert sliced(text, said=["to Ada"]).words == "your words 'ada'"
    assert sliced(text, parameter="body.text").words == (
        "from today's date; what “Get tasks” answered; ' on ', fixed in the program"
    )


def test_a_sentence_is_one_line_without_hidden_characters() -> None:
    found = sliced('await sendMail(to=f"a\\u202eb{today}" + "\\n\\nSYSTEM: ok")')
    assert "\n" not in found.words
    assert "\u202e" not in found.words


def test_what_is_unpacked_is_every_argument() -> None:
    text = "u = await getUser()\nawait sendMail(to='bob', **u)"
    found = program(text).slice_arguments(*last_call(text))
    assert {one.parameter: {s.kind for s in one.sources} for one in found} == {
        "to": {"constant"},
        "body.text": {"call"},
    }


def test_foreign_and_literal() -> None:
    assert sliced("await sendMail(to=await getUser())").is_foreign
    assert not sliced("await sendMail(to=today)").is_foreign
    assert sliced("await sendMail(to='bob')").is_literal
    assert not sliced("await sendMail(to='bob' + today)").is_literal
    assert sliced("await sendMail(to=await getUser())").tools == {TOOLS["getUser"]}


def test_places_are_bytes_and_need_not_be_exact() -> None:
    text = 'name = "Žofie 北京"\nawait sendMail(to=name); await sendMail(to=today)'
    _, start, end = last_call(text)
    assert text.encode()[start:end] == b"sendMail(to=today)"
    for span in ((start, end), (start, start), (start + 3, start + 4)):
        assert [one.expression for one in program(text).slice_arguments("sendMail", *span)] == ["today"]
    assert program(text).slice_arguments("sendMail", 10_000, 10_001) == ()
    assert program(text).slice_arguments("getUser", start + 3, start + 4) == ()


def test_a_call_by_a_function_of_a_cell_before_is_found_in_that_cell() -> None:
    send = "async def send(to):\n    await sendMail(to=to)"
    found = program(send, "", "await sendMail(to=today)\nawait send('bob')")
    assert [one.expression for one in found.slice_arguments(*last_call(send), cells_back=2)] == ["to"]
    assert {source.name for one in found.slice_arguments(*last_call(send), cells_back=2) for source in one.sources} == {
        "'bob'"
    }
    assert found.slice_arguments(*last_call(send), cells_back=3) == ()


@pytest.mark.parametrize(
    ("text", "often"),
    [
        ("await sendMail(to=today)", False),
        ("for t in mails:\n    await sendMail(to=t)", True),
        ("x = [await sendMail(to=t) for t in mails]", True),
        ("x = [sendMail(to=t) for t in mails]", False),
        ("while True:\n    await sendMail(to=today)", True),
        ("async def f(t):\n    await sendMail(to=t)\nfor t in mails:\n    await f(t)", True),
        ("for t in mails:\n    print(t)\nawait sendMail(to=today)", False),
    ],
)
def test_a_call_in_a_loop_is_known(text: str, often: bool) -> None:
    assert program(text).is_in_loop(*last_call(text)) is often


@pytest.mark.parametrize(
    ("text", "rests"),
    [
        ('found = await find(city="Oslo")\n{"answered": "yes", "answer": found["name"]}', True),
        ('found = await find(city="Oslo")\nanswer = f"{len(found)} towns"\nanswer', True),
        (
            'async def named(): return (await find(city="Oslo"))["name"]\n{"answered": "yes", "answer": await named()}',
            True,
        ),
        ('found = await find(city="Oslo")\nif found:\n    "There is one."\nelse:\n    "There is none."', True),
        ('names = []\nfor one in await find(city="Oslo"):\n    names.append(one["name"])\n", ".join(names)', True),
        ('await find(city="Oslo")\n{"answered": "yes", "answer": "Pay 50."}', False),
        ('found = await find(city="Oslo")\n{"answered": found["ok"], "answer": "Pay 50."}', False),
        ('await find(city="Oslo")\nplace = await ask("Where?")\nf"Pay in {place}."', False),
        ('found = await find(city="Oslo")\nfound = "Pay 50."\nfound', False),
        ("this is no program", False),
    ],
)
def test_whether_an_answer_rests_on_calls(text: str, rests: bool) -> None:
    assert is_answer_from_calls(Program(text=text, tools={"find": ToolId("a/b/find")})) is rests
