"""Gold programs, perturbed: each perturbation lowers the metrics that it should, and no other."""

import re

import pytest

from evaluation.code_calls import CodeCall, FunctionSignature, extract_calls
from evaluation.program_metrics import METRICS, compute_metrics, find_chains, match_program

GOLD = """
a = search_person(query="Ada Marsh")
b = search_movie(query="The Salt Road", year=1999)
c = credits(movie_id=b.results[0].id)
rate(movie_id=b.results[0].id, by=','.join([one.name for one in c.cast if one.order == 0]))
photo(person_id=a.results[0].id)
"""
FUNCTIONS = {
    name: FunctionSignature(name, {one: one for one in parameters.split()})
    for name, parameters in {
        "search_person": "query", "search_movie": "query year", "credits": "movie_id", "rate": "movie_id by", "photo": "person_id",
    }.items()
}  # fmt: skip


def read(text: str) -> list[CodeCall]:
    return extract_calls(text, FUNCTIONS)


def lowered(text: str) -> set[str]:
    """The metrics that are less than 1."""
    found = compute_metrics([match_program(read(GOLD), read(text))])
    return {name for name in METRICS if found[name] < 1}


ARGUMENTS = {"arg_full", "arg_functions"}
SEQUENCE = {"seq_full", "seq_conn"}
NOTHING: set[str] = set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GOLD.replace('"The Salt Road"', '"Salt"'), ARGUMENTS),
        (GOLD.replace(", year=1999", ""), ARGUMENTS),
        (GOLD.replace("if one.order == 0", "if one.order == 1"), ARGUMENTS),
        (GOLD.replace("photo(person_id=a.results[0].id)", "photo(person_id=a.results[1].id)"), ARGUMENTS),
        (GOLD.replace("photo(person_id=a.results[0].id)", "photo(person_id=7)"), {*ARGUMENTS, "seq_conn"}),
        (GOLD.replace('a = search_person(query="Ada Marsh")\n', "") .replace("photo(", 'a = search_person(query="Ada Marsh")\nphoto('), {"seq_full"}),
        (GOLD + "search_person(query='Bo')\n", SEQUENCE),
        (GOLD.replace("photo(person_id=a.results[0].id)\n", ""), {*ARGUMENTS, *SEQUENCE}),
        (GOLD.replace("year=1999", "year=1999, query2=3"), NOTHING),
        ("nothing = 1", ARGUMENTS | SEQUENCE),
    ],
)  # fmt: skip
def test_what_a_perturbation_lowers(text: str, expected: set[str]) -> None:
    assert lowered(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        GOLD,
        re.sub(r"\bb\b", "film", GOLD),
        GOLD.replace('query="The Salt Road", year=1999', 'year=1999, query="The Salt Road"'),
        GOLD.replace('search_person(query="Ada Marsh")', 'await search_person("Ada Marsh")'),
        GOLD.replace("b.results[0].id", 'b["results"][0]["id"]'),
        GOLD.replace(
            "c = credits(movie_id=b.results[0].id)", "film = b.results[0]\nc = credits(movie_id=str(film.get('id')))"
        ),
        GOLD.replace("photo(person_id=a.results[0].id)", "if a.results:\n    photo(person_id=first(a.results).id)"),
        GOLD.replace("[one.name for one in c.cast if one.order == 0]", "who.name for who in c.cast if who.order == 0"),
    ],
)
def test_what_makes_no_difference(text: str) -> None:
    assert lowered(text) == set()


def test_the_share_of_functions_whose_arguments_are_right() -> None:
    found = compute_metrics([match_program(read(GOLD), read(GOLD.replace('"Ada Marsh"', '"Bo"')))])
    assert (found["arg_full"], found["arg_functions"]) == (0, 0.8)


def test_a_loop_that_calls_for_each() -> None:
    loop = "m = search_movie(query='x')\nfor one in m['results']:\n    await credits(movie_id=one['id'])"
    short = "m = search_movie(query='x')\nall = [credits(movie_id=each.id) for each in m.results]"
    assert read(loop) == read(short)
    assert find_chains(read(loop)) == [("search_movie", "credits")]


def test_names_of_functions_and_parameters_are_those_that_are_compared() -> None:
    names = {"find": FunctionSignature("GET_search", {"q": "query"})}
    assert extract_calls("await find(q='x')", names) == [CodeCall("GET_search", {"query": "'x'"}, frozenset())]


def test_what_is_gathered_goes_to_its_names() -> None:
    text = "a, b = await asyncio.gather(search_person(query='x'), search_movie(query='y'))\nphoto(person_id=b['id'])"
    assert read(text)[2].uses == {1}


@pytest.mark.parametrize(
    "text",
    [
        "rs = await asyncio.gather({0}, {1})\nphoto(person_id=rs[1]['id'])",
        "rs = await asyncio.gather({0}, {1})\na, b = rs\nphoto(person_id=b['id'])",
        "[a, b] = await asyncio.gather({0}, {1})\nphoto(person_id=b['id'])",
        "x = (await asyncio.gather({0}, {1}))[1]\nphoto(person_id=x['id'])",
        "a = (await {0}) or {{}}\nb = (await {1}) or {{}}\nphoto(person_id=b.get('id'))",
    ],
)
def test_ways_to_gather_and_to_do_without_make_no_difference(text: str) -> None:
    calls = ("search_person(query='x')", "search_movie(query='y')")
    gold = "a = {0}\nb = {1}\nphoto(person_id=b['id'])"
    assert read(text.format(*calls)) == read(gold.format(*calls))


def test_what_is_gathered_and_used_as_a_whole_is_all_of_it() -> None:
    calls = "await asyncio.gather(search_person(query='x'), search_movie(query='y'))"
    assert read(f"rs = {calls}\nphoto(person_id=[one['id'] for one in rs])")[2].uses == {0, 1}
    spread = (
        "m = search_movie(query='x')\nrs = await asyncio.gather(*[credits(movie_id=one.id) for one in m.results])\n"
    )
    assert read(spread + "photo(person_id=rs[0])")[2].arguments != read(spread + "photo(person_id=rs[1])")[2].arguments


def test_a_name_that_was_gathered_and_then_given_something_else_is_that() -> None:
    text = "r = await asyncio.gather(search_person(query='x'))\nr = search_movie(query='y')\nphoto(person_id=r[0])"
    assert read(text)[2].uses == {1}
