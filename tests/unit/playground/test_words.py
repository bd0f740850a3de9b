"""Languages, the newspaper, maps and the services that do what others do."""

import httpx
import pytest

from playground.worlds.geography import COUNTRIES, cities
from playground.worlds.press import articles
from playground.worlds.tongues import Tongue, headwords, tongues, translated
from tests.unit.playground.asking import get


@pytest.mark.parametrize("tongue", [one for one in tongues() if one.name != "English"], ids=lambda one: one.code)
async def test_what_is_translated_is_recognised(client: httpx.AsyncClient, tongue: Tongue) -> None:
    code = tongue.code
    known = await get(client, "/lingua/languages")
    assert code in {one["language_code"] for one in known}
    phrases = [await get(client, "/lingua/translate", phrase=word, language_code=code) for word in ("bridge", "window")]
    text = ", ".join(one["translated_text"] for one in phrases)
    found = await get(client, "/lingua/detect", text=text)
    assert (found["language_code"], found["confidence"]) == (code, 1.0)


async def test_every_country_speaks_a_language_that_is_translated(client: httpx.AsyncClient) -> None:
    known = {one["language_name"] for one in await get(client, "/lingua/languages")}
    assert all(set(country.languages) <= known for country in COUNTRIES)
    assert translated("bell", "English") == "bell"


async def test_both_dictionaries_say_the_same(client: httpx.AsyncClient) -> None:
    for entry in headwords()[::7]:
        one = await get(client, "/lingua/define", word=entry.word.upper())
        other = await get(client, "/wordhoard/entries", lemma=entry.word)
        assert one["definition"] == other["gloss"]
        related = await get(client, f"/wordhoard/entries/{other['entry_id']}/related")
        assert related == {"headword": entry.word, "synonyms": list(entry.synonyms)}


async def test_an_article_leads_to_its_writer_and_its_city(client: httpx.AsyncClient) -> None:
    for article in articles()[::23]:
        hit = (await get(client, "/courant/api/search", q=article.headline, section=article.section))[0]
        found = await get(client, f"/courant/api/articles/{hit['article_id']}")
        assert (await get(client, "/atlas/search", city=found["dateline_city"]))["count"] >= 1
        writer = await get(client, f"/courant/api/journalists/{found['journalist_id']}")
        assert writer["beat"] == found["section"]
        assert writer["article_count"] >= 1


async def test_headlines_are_the_latest(client: httpx.AsyncClient) -> None:
    found = await get(client, "/courant/api/sections/travel/latest", count=4)
    days = [one["published_on"] for one in found]
    assert days == sorted(days, reverse=True)
    assert len(days) == 4
    assert await get(client, "/courant/api/search", q="the", since="2027-01-01") == []


async def test_both_geocoders_point_to_the_same_spot(client: httpx.AsyncClient) -> None:
    for city in cities()[::11]:
        one = (await get(client, "/atlas/search", city=city.name))["results"][0]
        other = (await get(client, "/mapfolk/geocode", q=f"{city.name}, {city.country.name}"))[0]
        assert (one["latitude"], one["longitude"]) == (other["lat"], other["lng"])


async def test_distances_are_those_of_a_globe(client: httpx.AsyncClient) -> None:
    quarter = {"from_lat": 0, "from_lng": 0, "to_lat": 0, "to_lng": 90}
    found = await get(client, "/mapfolk/distance", **quarter)
    assert found["distance_km"] == pytest.approx(10_007.5, abs=1)
    assert found["distance_miles"] == pytest.approx(found["distance_km"] / 1.609344, abs=0.1)


async def test_both_counters_give_the_same_money(client: httpx.AsyncClient) -> None:
    one = await get(client, "/rates/convert", from_currency="VDK", to_currency="NRV", amount=250)
    other = await get(client, "/cambio/exchange", have="VDK", want="NRV", sum=250)
    assert one["converted_amount"] == other["new_amount"]
    mark = await get(client, "/cambio/currencies", name_like="Mark")
    assert [entry["currency_code"] for entry in mark] == ["NRV"]
    rates = await get(client, "/rates/latest", base_currency="VDK", symbols="NRV,AFP")
    assert rates["rates"].keys() == {"NRV", "AFP"}


async def test_both_calendars_list_the_same_days(client: httpx.AsyncClient) -> None:
    one = (await get(client, "/days/holidays", country_code="XV", year=2026))["holidays"]
    other = await get(client, "/festa/XV/feasts", y=2026)
    assert [(day["date"], day["holiday"]) for day in one] == [(day["on"], day["title"]) for day in other]
    following = await get(client, "/festa/XV/next")
    assert following["on"] == next(day["date"] for day in one if day["date"] >= "2026-05-04")


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/lingua/translate", {"phrase": "spaceship", "language_code": "vel"}, 400),
        ("/lingua/translate", {"phrase": "bell", "language_code": "xxx"}, 404),
        ("/wordhoard/entries", {"lemma": "spaceship"}, 404),
        ("/wordhoard/entries/hw_0/related", {}, 404),
        ("/courant/api/articles/art_0", {}, 404),
        ("/courant/api/journalists/jrn_0", {}, 404),
        ("/courant/api/sections/sport/latest", {}, 422),
        ("/cambio/exchange", {"have": "XXX", "want": "NRV", "sum": "1"}, 404),
        ("/festa/QQ/next", {}, 404),
        ("/rates/latest", {"base_currency": "VDK", "symbols": "XXX"}, 404),
    ],
)
async def test_refusals_say_why(client: httpx.AsyncClient, path: str, query: dict[str, str], status: int) -> None:
    response = await client.get(path, params=query)
    assert response.status_code == status
    assert response.json()["detail"]
