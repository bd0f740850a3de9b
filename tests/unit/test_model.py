"""The base class of models: its JSON Schema describes fields by the docstrings below them."""

from pydantic import Field

from domain.model import Model


class Parent(Model):
    kind: str = "parent"
    """Kind of the thing."""
    plain: int = 0


class Child(Parent):
    """A child."""

    name: str
    """Name,
    over two lines."""
    told: str = Field(default="", description="as the field says")
    """This is not shown."""


class Holder(Model):
    child: Child
    """The one child."""


def test_attribute_docstrings_describe_the_fields_of_a_schema() -> None:
    properties = Child.model_json_schema()["properties"]
    assert {name: one.get("description") for name, one in properties.items()} == {
        "kind": "Kind of the thing.",
        "plain": None,
        "name": "Name,\nover two lines.",
        "told": "as the field says",
    }


def test_models_within_models_are_described_too() -> None:
    schema = Holder.model_json_schema()
    assert schema["properties"]["child"]["description"] == "The one child."
    assert schema["$defs"]["Child"]["properties"]["kind"]["description"] == "Kind of the thing."
    assert schema["$defs"]["Child"]["description"] == "A child."
