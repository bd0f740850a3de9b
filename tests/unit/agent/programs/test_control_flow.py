"""What decides whether and how often a call is made: found in the text, by whatever way of Python it gets there."""

import pytest

from agent.programs.analysis.control_flow import UNKNOWN_CONDITION
from agent.programs.analysis.slices import SliceContext, SlicedProgram
from domain.tool import ToolId

TOOLS = {name: ToolId(f"c/t/{name}") for name in ("account", "listing", "collect")}
BANK = "account"
READ = 'a = await account()\niban = a["iban"]\n'


def decided_by(*cells: str) -> set[str]:
    """The tools of other names that decide on the last call of ``collect``, and what nobody knows."""
    text = cells[-1]
    start = text.encode().rindex(b"collect(")
    end = text.encode().index(b")", start) + 1
    made = SlicedProgram(cells, SliceContext(TOOLS)).slice_control("collect", start, end)
    return {one.name for one in made.sources} - {"collect"}


DECIDING = {
    "branch": 'if iban[0] == "A":\n    await collect(text="a")',
    "else": 'if iban[0] == "A":\n    pass\nelse:\n    await collect(text="a")',
    "expression": 'await collect(text="a") if iban[0] == "A" else None',
    "short circuit": 'iban[0] == "A" and await collect(text="a")',
    "compared in a chain": 'iban[0] < "B" < (await collect(text="a"))',
    "loop over it": 'for c in iban:\n    await collect(text="a")',
    "so many rounds": 'for i in range(ord(iban[0])):\n    await collect(text="a")',
    "while": 'n = 0\nwhile n < ord(iban[0]):\n    n += 1\n    await collect(text="a")',
    "comprehension": '[await collect(text="a") for c in iban]',
    "filter": '[await collect(text=x) for x in "abc" if x == iban[0]]',
    "filtered before": 'xs = [x for x in "abc" if x == iban[0]]\nfor x in xs:\n    await collect(text=x)',
    "gathered": 'await asyncio.gather(*[collect(text="a") for c in iban])',
    "match": 'match iban[0]:\n    case "A":\n        await collect(text="a")',
    "matched with it": 'match "A":\n    case a.first:\n        await collect(text="a")',
    "break": 'for x in "abc":\n    if x == iban[0]:\n        break\n    await collect(text="a")',
    "break after it": 'for x in "abc":\n    await collect(text="a")\n    if x == iban[0]:\n        break',
    "continue": 'for x in "abc":\n    if x != iban[0]:\n        continue\n    await collect(text="a")',
    "for else": 'for x in "abc":\n    if x == iban[0]:\n        break\nelse:\n    await collect(text="a")',
    "where a loop ended": 'for x in "abc":\n    if x == iban[0]:\n        break\nawait collect(text=x)',
    "raised": 'if iban[0] == "A":\n    raise ValueError("x")\nawait collect(text="a")',
    "asserted": 'assert iban[0] == "A"\nawait collect(text="a")',
    "looked": 'if iban[0] == "A":\n    look(1)\nawait collect(text="a")',
    "returned": 'async def f():\n    if iban[0] == "A":\n        return\n    await collect(text="a")\nawait f()',
    "raised in a function": "def f():\n    if iban[0] == 'A':\n        raise ValueError('x')\nf()\nawait collect(text='a')",
    "caught": 'try:\n    1 / (ord(iban[0]) - 65)\nexcept ZeroDivisionError:\n    await collect(text="a")',
    "caught beside": 'try:\n    1 / (ord(iban[0]) - 65)\n    await collect(text="a")\nexcept ZeroDivisionError:\n    pass',
    "caught in a function": "def f(x):\n    return 1 / (ord(iban[0]) - 65)\n"
    'try:\n    f(1)\n    await collect(text="a")\nexcept ZeroDivisionError:\n    pass',
    "left when caught": "for i in range(9):\n    try:\n        1 / (ord(iban[0]) - i)\n    except ZeroDivisionError:\n"
    '        break\n    await collect(text="a")',
    "broken off in a loop": 'for i in range(99):\n    await collect(text="a")\n    1 / (ord(iban[0]) - i)',
    "broken off between": 'await collect(text="a")\n1 / (ord(iban[0]) - 65)\nawait collect(text="b")',
    "called where": 'async def f():\n    await collect(text="a")\nif iban[0] == "A":\n    await f()',
    "defined where": 'if iban[0] == "A":\n    async def f():\n        await collect(text="a")\nawait f()',
    "mapped over": 'async def f(c):\n    await collect(text="a")\nawait asyncio.gather(*map(f, iban))',
    "waited for where": 'async def f():\n    await collect(text="a")\nc = f()\nif iban[0] == "A":\n    await c',
    "removed by another name": 's = ["A"]\nt = s\nt.remove(iban[0])\nfor x in s:\n    await collect(text="a")',
    "removed where": 's = ["A"]\nt = s\nif iban[0] == "A":\n    t.clear()\nfor x in s:\n    await collect(text="a")',
    "removed in a list of it": 's = ["A"]\nt = [s]\nt[0].remove(iban[0])\nfor x in s:\n    await collect(text="a")',
    "removed in a dictionary": 's = ["A"]\nd = {"a": s}\nfor t in d.values():\n    t.remove(iban[0])\nfor x in s:\n    await collect(text="a")',
    "removed by a function": 's = ["A"]\ndef f(t, x):\n    t.remove(x)\nf(s, iban[0])\nfor x in s:\n    await collect(text="a")',
    "removed by a lambda": 's = ["A"]\n(lambda t: t.remove(iban[0]))(s)\nfor x in s:\n    await collect(text="a")',
    "removed by a bound method": 's = ["A"]\nr = s.remove\nr(iban[0])\nfor x in s:\n    await collect(text="a")',
    "removed by a key": 's = ["A"]\nsorted([iban[0]], key=s.remove)\nfor x in s:\n    await collect(text="a")',
    "removed from what a function returns": 's = ["A"]\ndef f():\n    return s\nf().remove(iban[0])\nfor x in s:\n    await collect(text="a")',
    "removed by a method of a class": 's = ["A"]\nclass K:\n    def lower(self, x):\n        s.remove(x)\n'
    'K().lower(iban[0])\nfor x in s:\n    await collect(text="a")',
    "matched and removed": 's = ["A"]\nmatch [s]:\n    case [t]:\n        t.remove(iban[0])\nfor x in s:\n    await collect(text="a")',
    "which one is emptied": 's = ["A"]\n[s, []][ord(iban[0]) % 2].clear()\nfor x in s:\n    await collect(text="a")',
    "deleted": 's = list("ABC")\nt = s\ndel t[: ord(iban[0]) - 64]\nfor x in s:\n    await collect(text="a")',
    "zipped with it": 'i = iter("ABC")\nlist(zip(range(ord(iban[0]) - 64), i))\nfor x in i:\n    await collect(text="a")',
    "looked for in a generator": 'i = iter("ABC")\nany(x == iban[0] for x in i)\nfor x in i:\n    await collect(text="a")',
    "looked for by another name": 'i = iter("ABC")\nj = i\nfor x in j:\n    if x == iban[0]:\n        break\nfor x in i:\n    await collect(text="a")',
    "variable": 'n = 1\nif iban[0] == "A":\n    n = 2\nfor i in range(n):\n    await collect(text="a")',
    "variable of text": 't = "a"\nif iban[0] == "A":\n    t = "b"\nawait collect(text=t)',
    "variable two steps on": 'n = 1\nif iban[0] == "A":\n    n = 2\nm = n\nif m == 2:\n    await collect(text="a")',
    "variable in a function": "n = 1\ndef f():\n    global n\n    n = 2\nif iban[0] == 'A':\n    f()\nfor i in range(n):\n"
    '    await collect(text="a")',
    "what a function returns": "def f():\n    if iban[0] == 'A':\n        return 1\n    return 2\n"
    'for i in range(f()):\n    await collect(text="a")',
    "added": 'xs = []\nfor c in iban:\n    xs.append(1)\nfor x in xs:\n    await collect(text="a")',
    "taken out": 'xs = [1, 2]\nif iban[0] == "A":\n    xs.pop()\nfor x in xs:\n    await collect(text="a")',
    "taken out of an iterator": 'xs = iter([1, 2])\nif iban[0] == "A":\n    next(xs)\nfor x in xs:\n    await collect(text="a")',
    "counted up": "n = 0\nwhile True:\n    n += 1\n    if n > ord(iban[0]):\n        break\nawait collect(text=str(n))",
    "walrus": '(n := 1) if iban[0] == "A" else (n := 2)\nif n == 1:\n    await collect(text="a")',
    "one of what was said": 'await collect(text="a" if iban[0] == "A" else "b")',
    "one character": "await collect(text=iban[0])",
    "order": 'for x in sorted("abc", key=lambda x: iban.find(x)):\n    await collect(text=x)',
    "what an error says": "try:\n    {}[iban]\nexcept KeyError as e:\n    await collect(text=str(e))",
}


@pytest.mark.parametrize("way", DECIDING)
def test_what_decides_on_a_call_is_found(way: str) -> None:
    found = decided_by(READ + DECIDING[way])
    assert BANK in found or UNKNOWN_CONDITION in found


@pytest.mark.parametrize("way", DECIDING)
def test_it_is_found_over_cells(way: str) -> None:
    found = decided_by(READ, DECIDING[way])
    assert BANK in found or UNKNOWN_CONDITION in found


@pytest.mark.parametrize(
    "call",
    [
        "class F:\n    async def go(self):\n        await collect(text='a')\nawait F().go()",
        "async def f():\n    await collect(text='a')\nfs = [f]\nfor i in range(9):\n    await fs[0]()",
        "async def f():\n    await collect(text='a')\ng = f\nawait g()",
    ],
)
def test_where_nobody_knows_what_calls_it_anything_may_decide(call: str) -> None:
    assert UNKNOWN_CONDITION in decided_by(READ + call)


@pytest.mark.parametrize(
    "text",
    [
        'await collect(text="a")',
        'b = await listing()\nawait collect(text="a")\nf"{iban} {b}"',
        'for x in ["a", "b"]:\n    await collect(text=x)\nlook(iban)',
        'await asyncio.gather(*[collect(text=x) for x in ["a", "b"]])',
        'both = [collect(text=x) for x in ["a", "b"]]\nawait asyncio.gather(*both)',
        'async def one(x):\n    return await collect(text=x)\nfound = await asyncio.gather(*[one(x) for x in "ab"])\nf"{iban} {found}"',
        'if today:\n    await collect(text="a")',
        'try:\n    r = await collect(text="a")\nexcept ToolError:\n    r = None\nf"{iban} {r}"',
        'r = await collect(text="a")\nif iban and r:\n    print(1)',
        'rows = await collect(text="a")\nfor row in rows:\n    if row["iban"] == iban:\n        print(row)',
    ],
)
def test_what_does_not_decide_is_not_named(text: str) -> None:
    assert decided_by(READ + text) <= {"today"}


@pytest.mark.parametrize(
    "called", ["f", '{"A": collect, "B": listing}[iban[0]]', "[collect, listing][ord(iban[0]) % 2]"]
)
def test_which_function_is_called_is_decided_by_what_chooses_it(called: str) -> None:
    text = f'{READ}f = collect if iban[0] == "A" else listing\nawait {called}(text="x")'
    start = len(f"{text.rpartition('await ')[0]}await ")
    made = SlicedProgram([text], SliceContext(TOOLS)).slice_control("collect", start, len(text))
    assert BANK in {one.name for one in made.sources}


def test_a_place_that_is_not_exact_is_decided_by_anything() -> None:
    made = SlicedProgram([READ], SliceContext(TOOLS)).slice_control("collect", 3, 9)
    assert not made.is_traced
