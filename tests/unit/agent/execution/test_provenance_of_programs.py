"""What a program worked out: shown as computed with what went into it, still prose where words are in it, and kept from other hosts."""

import pytest
from pydantic.types import JsonValue

from domain.plan import StepResult
from domain.provenance import COVERABLE, HostCrossing, Slice, Source, SourceKind, describe_origin
from tests.unit.agent.execution.test_provenance import LOOK, PAY, READ, heard


def made(parameter: str, *kinds: SourceKind, words: str = "made of it") -> Slice:
    tools = {"call": READ.id, "error": READ.id}
    sources = tuple(Source(kind=kind, name=kind, tool=tools.get(kind, "")) for kind in kinds)  # type: ignore[arg-type]
    return Slice(parameter=parameter, expression="x", sources=sources, words=words)


@pytest.mark.parametrize(
    ("value", "kinds", "kind"),
    [
        (1901, ("call",), "computed"),
        (1901, ("call", "constant"), "computed"),
        (1901, ("input", "constant"), "computed"),
        (1901, ("constant",), "written"),
        (1901, (), "written"),
        (4711, ("call",), "field"),
        (950, ("call",), "prose"),
        (3, ("call",), "said"),
    ],
)
def test_what_is_found_nowhere_and_is_no_constant_is_computed(
    value: JsonValue, kinds: tuple[SourceKind, ...], kind: str
) -> None:
    slices = [made("amount", *kinds)]
    (origin,) = heard("pay 3 of them").trace_arguments(PAY, {"amount": value}, slices).origins
    assert (origin.kind, origin.slice) == (kind, slices[0])
    assert ("computed" in COVERABLE, "written" in COVERABLE) == (False, False)


def test_a_text_that_a_program_made_of_foreign_prose_is_prose() -> None:
    (origin,) = heard().trace_arguments(PAY, {"account": "To DE89-77, urgently"}, [made("account", "call")]).origins
    assert origin.kind == "prose"


def test_the_worst_value_of_a_list_counts() -> None:
    several: list[JsonValue] = [["x1"], ["x1", "zz9"], ["x1", "zz9", "DE89-77"]]
    kinds = {
        str(lines): heard("x1").trace_arguments(PAY, {"lines": lines}, [made("lines", "call")]).origins[0].kind
        for lines in several
    }
    assert list(kinds.values()) == ["said", "computed", "prose"]


def test_where_a_value_comes_from_is_told_with_what_it_is_made_of() -> None:
    slices = [
        made("amount", "call", words="from what “Read” answered"),
        made("account", "call", "said", words="from what “Read” answered; your words 'Ost'"),
    ]
    found = heard().trace_arguments(PAY, {"amount": 1901, "account": "Ada Ost"}, slices).origins
    assert [describe_origin(one) for one in found] == [
        "nobody said it: the program worked it out from what “Read” answered",
        "from what “Read” of a.example answered (payee.name); put together from what “Read” answered; your words 'Ost'",
    ]


def test_what_is_a_field_of_one_answer_alone_is_told_once() -> None:
    (origin,) = heard().trace_arguments(PAY, {"account": "Ada Ost"}, [made("account", "call")]).origins
    assert describe_origin(origin) == "from what “Read” of a.example answered (payee.name)"


@pytest.mark.parametrize(
    ("kinds", "goes"),
    [
        (("call",), True),
        (("error", "constant"), True),
        (("unknown",), True),
        (("constant",), False),
        (("input",), True),
    ],
)
def test_what_is_made_of_one_hosts_answer_is_asked_about_before_it_goes_to_another(
    kinds: tuple[SourceKind, ...], *, goes: bool
) -> None:
    """Turned round, added up or coded, so that nothing of the answer can be found in it; in a read, too."""
    crossings = heard().trace_arguments(LOOK, {"q": "evlewt"}, [made("q", *kinds)]).crossings
    assert [(one.source, one.target) for one in crossings] == ([("a.example", "b.example")] if goes else [])


def test_what_the_user_said_may_go_whatever_it_is_made_of() -> None:
    assert heard("ask for evlewt").trace_arguments(LOOK, {"q": "evlewt"}, [made("q", "call")]).crossings == ()
    assert heard().trace_arguments(LOOK, {"q": "evlewt"}, [made("q")]).crossings == ()


@pytest.mark.parametrize(
    ("kinds", "tells"), [(("call",), True), (("unknown",), True), (("said", "given"), False), ((), False)]
)
def test_a_call_tells_another_host_what_it_depends_on(kinds: tuple[SourceKind, ...], *, tells: bool) -> None:
    """Its arguments are constants, which carry nothing."""
    found = heard().trace_arguments(LOOK, {"q": "evlewt"}, [made("q", "constant")], made("", *kinds)).crossings
    assert found == ((HostCrossing(source="a.example", target="b.example"),) if tells else ())


def test_a_call_tells_what_the_value_of_one_character_depends_on() -> None:
    for value in ("D", "said"):
        found = heard("said").trace_arguments(LOOK, {"q": value}, [made("q", "call")], made("", "call")).crossings
        assert found == (HostCrossing(source="a.example", target="b.example"),)


def test_a_call_tells_that_another_host_answered_nothing() -> None:
    provenance = heard(response="")
    provenance.record_response(READ, StepResult(tool=READ.id, status="failed", note="404"))
    found = provenance.trace_arguments(LOOK, {"q": "x"}, (), made("", "error")).crossings
    assert found == (HostCrossing(source="a.example", target="b.example"),)


def test_a_value_that_goes_is_named_before_the_call_that_tells() -> None:
    found = heard().trace_arguments(LOOK, {"q": "evlewt"}, [made("q", "call")], made("", "call")).crossings
    assert found == (HostCrossing(source="a.example", target="b.example", parameter="q"),)
