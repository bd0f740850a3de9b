"""Long responses made short: real shapes, hostile shapes, everything that is no JSON."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.compression.field_selection import FieldChoices
from agent.compression.response_compression import (
    COMPRESSION_LIMIT,
    CompressedResponse,
    compress_response,
    parse_structure,
    shorten_response,
)
from agent.policy.protocol import FieldsQuestion
from domain.errors import UnavailableError
from domain.tool import ToolDoc, make_tool_id
from offline.policy import OfflinePolicy

RANKING = orjson.dumps(
    [
        {
            "rank": n,
            "url": f"https://anime.example/anime/{n}/a_title_that_is_said_again_in_the_address",
            "title": f"Title {n}",
            "img": f"https://cdn.anime.example/r/50x70/images/anime/{n}/96541.jpg?s=faffcb677a5eacd17bf761edd78bfb3f",
            "score": 9.5 - n / 100,
        }
        for n in range(1, 51)
    ]
).decode()


def tool(method: str = "GET", description: str = "Return Top Anime List") -> ToolDoc:
    return ToolDoc(id=make_tool_id("c", "t", "top"), category="c", toolset="t", api="top", function="top", method=method,
                   description=description)  # fmt: skip


class Naming(OfflinePolicy):
    """A policy that names fields, and counts how often it is asked."""

    name = "naming"

    def __init__(self, *fields: str, error: Exception | None = None) -> None:
        super().__init__()
        self.asked: list[FieldsQuestion] = []
        self._fields = fields
        self._error = error

    async def fields_to_keep(self, question: FieldsQuestion) -> tuple[str, ...]:
        self.asked.append(question)
        if self._error:
            raise self._error
        return self._fields


async def test_the_named_fields_are_kept_in_every_item_and_the_rest_is_cut() -> None:
    policy = Naming("[].title", "[].score", "[].invented")
    found = await compress_response(tool(), RANKING, policy, FieldChoices())
    assert found is not None
    assert found.fields == ("[].title", "[].score")
    *items, mark = orjson.loads(found.text)
    assert items[0] == {"title": "Title 1", "score": 9.49}
    assert len(items) > 20
    assert mark == f"… {50 - len(items)} more"
    assert (found.before, len(found.text) <= COMPRESSION_LIMIT, found.cut) == (len(RANKING), True, True)
    assert policy.asked[0].fields == ("[].rank", "[].url", "[].title", "[].img", "[].score")
    assert len(policy.asked[0].response) <= 4_096


async def test_what_fits_once_filtered_is_not_cut() -> None:
    found = await compress_response(tool(), RANKING, Naming("[].rank"), FieldChoices())
    assert found is not None
    assert not found.cut
    assert orjson.loads(found.text) == [{"rank": n} for n in range(1, 51)]


async def test_short_responses_and_those_that_only_spaces_make_long_ask_nobody() -> None:
    policy = Naming("a")
    assert await compress_response(tool(), "x" * COMPRESSION_LIMIT, policy, FieldChoices()) is None
    spaced = '{"a":' + " " * 2_000 + '1, "b": 2}'
    found = await compress_response(tool(), spaced, policy, FieldChoices())
    assert found == CompressedResponse('{"a":1,"b":2}', (), len(spaced), 13, False)
    assert policy.asked == []


@pytest.mark.parametrize("policy", [None, Naming("[].title")])
async def test_writes_and_failed_calls_are_only_cut(policy: Naming | None) -> None:
    found = await compress_response(tool("POST"), RANKING, policy, FieldChoices())
    assert found is not None
    assert found.fields == ()
    assert orjson.loads(found.text)[0]["rank"] == 1
    assert policy is None or policy.asked == []


async def test_a_policy_that_cannot_answer_costs_only_the_filter() -> None:
    found = await compress_response(
        tool(), RANKING, Naming(error=UnavailableError("the model is down")), FieldChoices()
    )
    assert found is not None
    assert found.fields == ()
    assert len(found.text) <= COMPRESSION_LIMIT


async def test_a_policy_that_names_nothing_known_leaves_all_fields() -> None:
    found = await compress_response(tool(), RANKING, Naming("nothing"), FieldChoices())
    assert found is not None
    assert orjson.loads(found.text)[0]["url"]


HTML = (
    "<!DOCTYPE html><html><head><title>502 Bad Gateway</title><style>body{color:red}</style><script>alert('x<y')</script></head>"
    "<body><!-- hidden --><h1>Bad&nbsp;Gateway</h1>"
    + "<p>The server &amp; its friend are down.</p>\n" * 100
    + "</body></html>"
)
XML = (
    '<?xml version="1.0"?><Rates xmlns="urn:x"><Rate currency="USD"> 1.1 </Rate>'
    + '<Cube c="A" r="2"/>' * 100
    + "</Rates>"
)


@pytest.mark.parametrize(
    ("response", "begins"),
    [
        (HTML, "502 Bad Gateway\nBad Gateway\nThe server & its friend are down."),
        (XML, 'Rate currency="USD": 1.1\nCube c="A" r="2"\n'),
        ("plain   words \n\n\n on   lines " * 200, "plain words\non lines plain words"),
        ("x" * 5_000, "xxxx"),
        ('"' + "a JSON text " * 200 + '"', '"a JSON text a JSON'),
    ],
)
def test_what_is_no_structure_is_reduced_to_its_text_and_the_cut_is_said(response: str, begins: str) -> None:
    found = shorten_response(response, parse_structure(response), ())
    assert found.text.startswith(begins)
    assert found.text.endswith(f"(cut; {len(response):,} characters in all)")
    assert len(found.text) <= COMPRESSION_LIMIT
    assert found.cut


def test_json_within_json_and_cut_json_and_python_are_read() -> None:
    inner = orjson.dumps({"a": [1, 2, 3] * 500}).decode()
    assert parse_structure(orjson.dumps(inner).decode()) == orjson.loads(inner)
    cut = parse_structure(RANKING[:-200])
    assert isinstance(cut, list)
    assert cut[:48] == orjson.loads(RANKING)[:48]
    assert parse_structure("{'a': None, 'b': [True]}") == {"a": None, "b": [True]}


async def test_that_the_response_came_cut_off_is_said() -> None:
    found = await compress_response(tool(), RANKING[:-200], Naming("[].rank"), FieldChoices())
    assert found is not None
    assert found.text.startswith('[{"rank":1},{"rank":2}')
    assert found.text.endswith("] … (the response itself was cut off)")
    assert len(found.text) <= COMPRESSION_LIMIT


HOSTILE = [
    "[" * 100_000,
    '{"a":' * 5_000 + "1" + "}" * 5_000,
    "<" * 200_000,
    "<!--" * 50_000,
    "<script" * 50_000,
    "<a " + " " * 200_000 + ">",
    "&" * 200_000,
    "\n" * 200_000,
    '{"' + "k" * 200_000 + '": 1}',
    orjson.dumps({f"key {n}\n": n for n in range(20_000)}).decode(),
    orjson.dumps({"a": "\u202e" * 5_000}).decode(),
    '{"a": "\\ud800' + "x" * 2_000 + '"}',
    "\x00" * 5_000,
    orjson.dumps([[[[[[[[[[[["deep" * 300]]]]]]]]]]]]).decode(),
    "\ud800" * 3_000,
]


@pytest.mark.parametrize("response", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.timeout(5)
async def test_hostile_responses_end_soon_and_short(response: str) -> None:
    found = await compress_response(tool(), response, Naming("a", "*"), FieldChoices())
    assert found is not None
    assert len(found.text) <= COMPRESSION_LIMIT
    found.text.encode()


@given(st.text(min_size=COMPRESSION_LIMIT + 1, max_size=COMPRESSION_LIMIT + 2_000))
def test_any_text_is_cut_to_the_limit(response: str) -> None:
    found = shorten_response(response, parse_structure(response), ())
    assert len(found.text) <= COMPRESSION_LIMIT
    again = shorten_response(found.text, parse_structure(found.text), ())
    assert len(again.text) <= COMPRESSION_LIMIT
