"""Which names a new tool is warned of: those of other sources' tools, in the same tool set, another one, and in other letters."""

import pytest

from admission.findings import HIDDEN_TOOL
from admission.known_names import KnownNames
from admission.name_check import check_name
from domain.tool import ToolDoc, make_tool_id
from domain.tool_source import Finding
from graph.function_names import build_function_name


def named(category: str, toolset: str, api: str) -> ToolDoc:
    """A tool as a source's importer names it."""
    return ToolDoc(
        id=make_tool_id(category, toolset, api), category=category, toolset=toolset, api=api,
        function=build_function_name(api, toolset), method="GET", description="Sends money.",
    )  # fmt: skip


PAY = named("Finance", "Bank", "send_money")


def found(tool: ToolDoc, *others: ToolDoc, known: KnownNames | None = None) -> Finding:
    """What the check says of a tool; one finding."""
    (finding,) = check_name(tool, known or KnownNames.from_tools(others), KnownNames())
    return finding


@pytest.mark.parametrize(
    ("category", "toolset", "api"),
    [
        ("Finance", "Wire", "send_money"),  # another tool set
        ("Ports", "Harbour", "send_money"),  # another category, too
        ("Ports", "Bank", "send_money"),  # the same tool set in another category
        ("Ports", "Harbour", "Send Money"),
        ("Ports", "Harbour", "SendMoney"),
        ("Ports", "Harbour", "send-money"),
        ("Ports", "Harbour", "send__money_"),
        ("Ports", "Harbour", "5end_m0ney"),
        ("Ports", "Harbour", "sendrnoney"),
        ("Ports", "Harbour", "ｓｅｎｄ_ｍｏｎｅｙ"),
        ("Finance", "Bank", "sendMoney"),
    ],
)
def test_a_tool_that_shadows_another_is_warned_of(category: str, toolset: str, api: str) -> None:
    finding = found(named(category, toolset, api), PAY)
    assert (finding.verdict, finding.evidence["other"]) == ("warned", PAY.id)
    assert PAY.id in finding.told
    assert finding.advice


def test_a_name_all_in_letters_of_another_script_is_warned_of() -> None:
    assert found(named("Ports", "Harbour", "рау"), named("Finance", "Bank", "pay")).verdict == "warned"


@pytest.mark.parametrize("first", [0, 1])
def test_a_tool_that_was_entered_first_hides_no_other(first: int) -> None:
    """Whichever of two spellings was known first: the new tool set is called as one, and looks like the other."""
    others = [named("a", "Bank", "list"), named("b", "8ank", "show")]
    finding = found(named("c", "Bank", "sail"), others[first], others[1 - first])
    assert (finding.verdict, "“8ank” of b" in finding.told) == ("failed", True)


def test_of_several_tools_one_of_the_same_spelling_is_named() -> None:
    finding = found(named("x", "Y", "send_money"), named("a", "A", "sendMoney"), PAY)
    assert finding.evidence["other"] == PAY.id


def test_a_hidden_tool_is_not_named() -> None:
    known = KnownNames(hidden=frozenset({PAY.id}))
    known.add(PAY.id, PAY.function)
    finding = found(named("Ports", "Harbour", "sendMoney"), known=known)
    assert (finding.verdict, HIDDEN_TOOL in finding.told, "Bank" in str(finding)) == ("warned", True, False)


@pytest.mark.parametrize("api", ["send", "money", "send_monkey", "!!!"])
def test_other_names_pass(api: str) -> None:
    assert found(named("Ports", "Harbour", api), PAY, named("a", "b", "???")).verdict == "passed"
