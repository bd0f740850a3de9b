"""A tool as a function: what is shown of it, what a checker reads, and that no text of a catalogue gets out of its place."""

import ast
import inspect
import json
import keyword
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.programs.signatures import PREAMBLE, ToolSignature, build_signature, build_signatures
from domain.tool import Parameter, ToolDoc, make_tool_id
from graph.shapes import infer_shape


def doc(api: str = "findRooms", *, toolset: str = "Rooms", **fields: Any) -> ToolDoc:
    made = {"category": "c", "toolset": toolset, "api": api, "function": api, "description": "Free rooms of a town."}
    return ToolDoc.model_validate({"id": make_tool_id("c", toolset, api), **made, **fields})


def namespace(*made: ToolSignature) -> dict[str, Any]:
    """What the stubs of an offer define when they are run as Python."""
    found: dict[str, Any] = {}
    exec("\n".join((PREAMBLE, *(one.stub for one in made))), found)
    return found


ROOMS = doc(
    parameters=(
        Parameter(name="page", type="integer", default=1, minimum=1, maximum=50),
        Parameter(name="town", required=True, example="Velmora"),
        Parameter(name="class", enum=("plain", "grand"), default="plain"),
        Parameter(name="from", required=True, format="date"),
    ),
    example_response='{"rooms": [{"room-id": "r1", "beds": 2, "price": 80.5, "view": null}], "next": null}',
)


def test_what_is_shown() -> None:
    made = build_signature(ROOMS)
    assert made.text == (
        "# Free rooms of a town. | town e.g. 'Velmora'; from_ YYYY-MM-DD; page 1..50\n"
        "async def findRooms(town: str, from_: str, page: int = 1, class_: Literal['plain', 'grand'] = 'plain') -> "
        "{'rooms':list[{'room-id':str,'beds':int,'price':float,'view':Any}],'next':Any}: ..."
    )
    assert made.short_text == (
        "async def findRooms(town: str, from_: str, page: int = 1, class_: Literal['plain', 'grand'] = 'plain'): ..."
    )
    assert made.arguments == {"town": "town", "from_": "from", "page": "page", "class_": "class"}
    assert made.tokens == len(made.text) // 4 + 1


def test_the_stub_is_whole_and_typed() -> None:
    found = namespace(build_signature(ROOMS))
    parameters = inspect.signature(found["findRooms"]).parameters
    assert [name for name, one in parameters.items() if one.default is one.empty] == ["town", "from_"]
    returned = found["findRooms"].__annotations__["return"]
    assert set(returned.__annotations__) == {"rooms", "next"}


def test_a_change_is_told() -> None:
    assert build_signature(doc(method="DELETE")).text.startswith("# CHANGES: Free rooms")
    assert build_signature(doc("removeRoom")).text.startswith("# MAY CHANGE: Free rooms")


def test_a_body_says_which_of_its_fields_may_be_missing() -> None:
    schema = {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}}},
        },
    }
    body = Parameter(name="guest", type="object", required=True, location="body", json_schema=json.dumps(schema))
    made = build_signature(doc(method="POST", parameters=(body,)))
    assert "(guest: {'name':str,'tags':NotRequired[list[{'id':NotRequired[int]}]]})" in made.text
    assert "(guest: dict)" in made.short_text
    assert namespace(made)["findRooms"].__annotations__["guest"].__required_keys__ == {"name"}


def test_a_long_response_is_cut_from_within_and_says_so() -> None:
    deep = {"total": 1, "found": [{f"field_{n}": {"x": n} for n in range(60)}]}
    made = build_signature(doc(example_response=json.dumps(deep)))
    assert len(made.text) < 700
    assert "'total':int" in made.text
    assert "...:..." in made.text
    assert "field_59" in made.stub


def test_of_a_long_response_what_tells_things_apart_is_shown_wherever_it_is() -> None:
    page = {"href": "x", "limit": 1, "next": "x", "offset": 1, "previous": "x", "total": 1}
    item = {**{f"detail_{n}": {"x": 1} for n in range(9)}, "id": "x", "name": "x"}
    kinds = ("albums", "artists", "episodes", "playlists", "shows", "tracks")
    made = build_signature(doc(example_response=json.dumps({kind: {"items": [item], **page} for kind in kinds})))
    for kind in kinds:
        assert f"'{kind}':{{'items':list[{{'id':str,'name':str,...:...}}]," in made.text


def test_of_a_long_body_what_is_required_is_shown() -> None:
    properties = {f"field_{n}": {"type": "string"} for n in range(60)}
    schema = {"type": "object", "required": ["field_58"], "properties": properties}
    body = Parameter(name="body", type="object", required=True, location="body", json_schema=json.dumps(schema))
    text = build_signature(doc(method="POST", parameters=(body,))).text
    assert "'field_58':str" in text
    assert "'field_57'" not in text


def test_a_list_of_values_that_is_too_long_becomes_a_note() -> None:
    many = Parameter(name="unit", required=True, enum=tuple(f"unit number {n}" for n in range(40)))
    made = build_signature(doc(parameters=(many,)))
    assert "unit one of unit number 0, unit number 1" in made.text
    assert "(unit: str)" in made.text
    assert "'unit number 39'" in made.stub


def test_defaults_are_of_the_type_whatever_the_catalogue_writes() -> None:
    given = (
        Parameter(name="a", type="number", default="5"),
        Parameter(name="b", type="integer", default="many"),
        Parameter(name="c", type="boolean", default="True"),
        Parameter(name="d", default=7),
        Parameter(name="e", enum=("x",), default="y"),
        Parameter(name="g", type="integer", default=float("inf")),
        Parameter(name="h", type="integer", default=10**5000),
        Parameter(name="f", default="a default that is long enough to be left out"),
    )
    text = build_signature(doc(parameters=given)).text
    assert (
        "a: float = 5, b: int = ..., c: bool = True, d: str = ..., e: Literal['x'] = ..., g: int = ..., h: int = ..., f: str = ..."
        in text
    )


def test_an_identifier_has_no_example_since_another_tool_gives_it() -> None:
    room = Parameter(name="room_id", required=True, example="r1")
    assert "e.g." not in build_signature(doc(parameters=(room,))).text


def test_what_is_known_besides_the_document_goes_first() -> None:
    assert "-> list[{'id':str}]" in build_signature(doc(), infer_shape([{"id": "7"}])).text
    assert "->" not in build_signature(doc()).text


def test_names_of_an_offer_are_each_of_one_tool() -> None:
    docs = [
        doc("search"),
        doc("search", toolset="Hotels"),
        doc("search", toolset="Hotels!"),
        doc("list"),
        doc("2 for 1"),
        doc("人"),
    ]
    names = [made.name for made in build_signatures(docs)]
    assert names == ["search", "search_Hotels", "search_Hotels_2", "list_Rooms", "tool_2_for_1", "人"]


def test_all_optional_parameters_stand_in_the_stub_and_some_in_what_is_shown() -> None:
    many = tuple(Parameter(name=f"filter_number_{n}", type="integer") for n in range(100))
    made = build_signature(doc(parameters=many))
    assert "more optional parameters" in made.text
    assert len(made.text) < 800
    assert len(inspect.signature(namespace(made)["findRooms"]).parameters) == 100 == len(made.arguments)


HOSTILE = st.one_of(
    st.text(max_size=60),
    st.text(alphabet=st.sampled_from('"\'\\\n\r\t\x00\x0b\x0c\x1c\x85\u2028\u2029\u202e\u200b`#:;()[]{}=*, ª²ﬁ１٣é人'), max_size=40),
    st.sampled_from(['"""', "'''", "```", "\n    import os", "def f(): pass", "__debug__", "None", "print", "lambda", "\\", "\\\n", "x" * 300,
                     "self", "Literal", "TypedDict", "", "_", "1", "K", "\u0301"]),
)  # fmt: skip
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), HOSTILE)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(HOSTILE, inner, max_size=3)
)
TYPES = st.sampled_from(["string", "number", "integer", "boolean", "array", "object"])
SCHEMAS: st.SearchStrategy[Any] = st.recursive(
    st.fixed_dictionaries({"type": TYPES}, optional={"enum": st.lists(SCALARS, max_size=4), "nullable": st.booleans()}),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"type": st.just("object"), "properties": st.dictionaries(HOSTILE, inner, max_size=4)}),
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}),
        st.fixed_dictionaries({"anyOf": st.lists(inner, max_size=3)}),
        st.fixed_dictionaries({"additionalProperties": inner}),
    ),
    max_leaves=6,
)
PARAMETERS = st.builds(
    Parameter,
    name=HOSTILE,
    type=TYPES,
    description=HOSTILE,
    required=st.booleans(),
    default=VALUES,
    example=VALUES,
    enum=st.lists(SCALARS, max_size=4).map(tuple),
    format=st.none() | HOSTILE,
    minimum=st.none() | st.floats(allow_nan=False),
    nullable=st.booleans(),
    json_schema=st.none() | SCHEMAS.map(json.dumps),
)
DOCS = st.builds(
    doc,
    HOSTILE,
    toolset=HOSTILE,
    description=HOSTILE,
    method=st.sampled_from(["GET", "POST"]),
    parameters=st.lists(PARAMETERS, max_size=5, unique_by=lambda parameter: parameter.name).map(tuple),
    response_schema=st.none() | SCHEMAS.map(json.dumps) | HOSTILE,
    example_response=st.none() | VALUES.map(json.dumps) | HOSTILE,
)


@given(st.lists(DOCS, min_size=1, max_size=4, unique_by=lambda one: one.id))
@settings(max_examples=300, deadline=None)
def test_whatever_a_catalogue_says_it_is_one_function_and_nothing_else(docs: list[ToolDoc]) -> None:
    made = build_signatures(docs)
    assert len({one.name for one in made}) == len(docs)
    for one, document in zip(made, docs, strict=True):
        assert one.tool == document.id
        assert_one_function(one.text, one)
        assert_one_function(one.short_text, one)
        assert len(one.text.split("\n")) == 2
        assert all(char.isprintable() for line in one.text.split("\n") for char in line)
        assert one.name.isidentifier()
        assert not keyword.iskeyword(one.name)
        assert not one.name.startswith("_")
        assert sorted(one.arguments.values()) == sorted(parameter.name for parameter in document.parameters)
    found = namespace(*made)
    for one in made:
        assert list(inspect.signature(found[one.name]).parameters) == list(one.arguments)


def assert_one_function(text: str, made: ToolSignature) -> None:
    (function,) = ast.parse(text).body
    compile(text, "offer", "exec")
    assert isinstance(function, ast.AsyncFunctionDef)
    assert function.name == made.name
    (statement,) = function.body
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Constant)
    assert statement.value.value is ...
    assert {argument.arg for argument in function.args.args} <= made.arguments.keys()
    assert not any(isinstance(node, ast.Call | ast.Lambda | ast.Await) for node in ast.walk(function))
