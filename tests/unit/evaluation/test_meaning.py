"""Programs that are the same solution, and programs that are not: gold programs, perturbed."""

import pytest

from domain.errors import UsageError
from domain.program import Program, ProgramPlan
from domain.tool import ToolId
from evaluation.meaning.comparison import ProgramMeaning, derive_meaning, is_same_solution
from tests.support.equal_programs import FAMILIES, FIELD, FUNCTIONS, LIST

SAME = [(gold, text) for gold, same, _ in FAMILIES for text in same]
OTHER = [(gold, text) for gold, _, other in FAMILIES for text in other]


def program(text: str) -> Program:
    return Program(text=text, tools={name: ToolId(tool) for name, tool in FUNCTIONS.items()})


def meaning(text: str) -> ProgramMeaning:
    return derive_meaning([program(text)])


@pytest.mark.parametrize(("gold", "text"), SAME)
def test_what_is_written_otherwise_and_does_the_same_is_the_same(gold: str, text: str) -> None:
    assert meaning(text) == meaning(gold)


@pytest.mark.parametrize(("gold", "text"), OTHER)
def test_another_tool_field_or_filter_or_a_missing_step_is_another_program(gold: str, text: str) -> None:
    assert not meaning(text).covers(meaning(gold))


def test_there_are_pairs_enough_of_both_kinds() -> None:
    assert len(SAME) + len(OTHER) >= 30
    assert all(meaning(gold).calls for gold, _, _ in FAMILIES)


def test_inputs_are_known_by_where_they_are_used() -> None:
    one = ProgramPlan(program=program(LIST), inputs={"name": {}, "organization": {}})
    renamed = LIST.replace("name=name", "name=who").replace("organization=organization", "organization=where")
    assert is_same_solution(one, ProgramPlan(program=program(renamed), inputs={"who": {}, "where": {}}))
    crossed = LIST.replace("name=name, organization=organization", "name=organization, organization=name")
    assert is_same_solution(one, ProgramPlan(program=program(crossed), inputs={"name": {}, "organization": {}}))
    twice = LIST.replace("organization=organization", "organization=name")
    assert not is_same_solution(one, ProgramPlan(program=program(twice), inputs={"name": {}}))


def test_values_stand_for_their_inputs() -> None:
    given = {"name": "Dagny Abernathy", "organization": "Oskvik Polytechnic"}
    written = FIELD.replace('"Dagny Abernathy"', "name").replace('"Oskvik Polytechnic"', "organization")
    assert derive_meaning([program(written)], given) == meaning(FIELD)


def test_cells_of_a_program_are_read_one_after_another() -> None:
    *calls, answer = LIST.strip().splitlines()
    cells = [program("\n".join([*calls, "look(pubs)"])), program(answer)]
    assert derive_meaning(cells) == meaning(LIST)


def test_a_program_may_say_more_than_another_and_must_not_call_more() -> None:
    more = FIELD.replace('people[0]["num_citation"]', "f\"{people[0]['name']}: {people[0]['num_citation']}\"")
    assert meaning(more) != meaning(FIELD)
    assert meaning(more).covers(meaning(FIELD))
    assert not meaning(FIELD).covers(meaning(more))


def test_links_are_the_path_whatever_is_read_of_it() -> None:
    assert meaning(LIST).links == meaning(LIST.replace('pub["title"]', 'pub["year"]')).links
    assert meaning(LIST).links != meaning(LIST.replace("getPersonPubs", "getCoauthors")).links


def test_a_text_that_cannot_be_read_means_nothing() -> None:
    broken = meaning("people = await (")
    assert not broken.calls
    plan = ProgramPlan(program=program("people = await ("))
    assert not is_same_solution(plan, plan)


def test_a_text_that_doubles_with_each_line_is_refused() -> None:
    text = "x = [searchPerson(name='a')]\n" + "x = [x, x]\n" * 40 + "x"
    with pytest.raises(UsageError, match="too large"):
        meaning(text)
