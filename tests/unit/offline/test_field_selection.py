"""Which fields the policy without a model keeps, on documents and responses of the public catalogue."""

import orjson
from pydantic.types import JsonValue

from agent.compression.json_paths import list_field_paths
from agent.policy.protocol import FieldsQuestion
from domain.tool import ToolDoc, make_tool_id
from offline.policy import OfflinePolicy


async def kept(api: str, description: str, response: JsonValue) -> tuple[str, ...]:
    tool = ToolDoc(
        id=make_tool_id("c", "t", api), category="c", toolset="t", api=api, function=api, description=description
    )
    question = FieldsQuestion(tool, orjson.dumps(response).decode(), list_field_paths(response))
    return await OfflinePolicy().decide(question)


async def test_a_ranking_without_addresses_and_pictures() -> None:
    item: JsonValue = {
        "rank": 1,
        "url": "https://myanimelist.net/anime/5114/Fullmetal_Alchemist__Brotherhood",
        "title": "Fullmetal Alchemist: Brotherhood",
        "img": "https://cdn.myanimelist.net/r/50x70/images/anime/1223/96541.jpg",
        "type": "TV (64 eps)",
        "airedOn": "Apr 2009 - Jul 2010",
        "score": 9.14,
    }
    fields = await kept("TopAnime", "Return Top Anime List", [item, item, item])
    assert fields[0] == "[].title"
    assert set(fields) == {"[].rank", "[].title", "[].type", "[].airedOn", "[].score"}


async def test_a_row_without_what_the_database_says_of_itself() -> None:
    fields = await kept(
        "GetAddressfromCompanyLinkedID",
        "Get the address of a Latvian comany from the linked ID returned in a previous search",
        {
            "rows": [
                {
                    "_link_entity_statement": {"value": "67144", "label": "Uralkali Trading SIA"},
                    "type": "registered",
                    "address": "Rīga, Krišjāņa Valdemāra iela 62",
                    "country": "LV",
                }
            ],
            "columns": ["_link", "_link_entity_statement", "type", "address", "country"],
            "query": {"sql": "select _link, type, address, country from entity_addresses " * 8},
            "next_url": None,
            "html_attribution": "<div>" * 200,
        },
    )
    assert {"rows[].address", "rows[]._link_entity_statement.value", "rows[]._link_entity_statement.label"} <= set(
        fields
    )
    assert not {"query.sql", "next_url", "html_attribution"} & set(fields)


async def test_identifiers_that_a_later_call_needs_stay() -> None:
    fields = await kept(
        "search_people",
        "Find people by name",
        {"people": [{"person_id": f"p{n}", "name": "A", "bio": "long " * 200, "avatar_url": "https://x.example/a.png"} for n in range(9)]},
    )  # fmt: skip
    assert fields[:2] == ("people[].name", "people[].person_id")
    assert "people[].avatar_url" not in fields


async def test_two_fields_at_least_even_where_all_speak_against_themselves() -> None:
    response: JsonValue = {f"image_url_{n}": "https://x.example/" + "a" * 300 for n in range(10)}
    assert len(await kept("images", "", response)) == 2


async def test_nothing_to_choose_from() -> None:
    assert await kept("nothing", "", {}) == ()


async def test_the_same_answer_whatever_the_order_of_equals() -> None:
    response: JsonValue = {"b": {"x": 1}, "a": {"x": 2}, "c": [{"z": None}]}
    assert await kept("api", "", response) == await kept("api", "", response)
