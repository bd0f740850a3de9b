"""Quality judgements by a language model: one prompt for a batch of documents, keep or drop for each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import cast

from pydantic import BaseModel
from pydantic.types import JsonValue

from admission.quality import QualityJudgement
from agent.llm.client.chat import ChatModel
from agent.llm.prompts import PromptFence, load_instructions
from agent.llm.structured_output import ModelAllowance, ModelPrompter
from agent.text import clean_text
from domain.errors import InvalidDecisionError
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc
from graph.lenient_json import read_value

_MAX_DESCRIPTION, _MAX_PARAMETER_TEXT = 600, 120
_MAX_PARAMETERS, _MAX_FIELDS = 15, 12
_MAX_DEPTH = 4
_MAX_NODES = 500
"""Limit of visited parts of one schema, since alternatives that refer to each other multiply."""


def render_document(tool: ToolDoc) -> str:
    """Render a document in a few lines of bounded length."""
    parameters = [line for parameter in tool.parameters[:_MAX_PARAMETERS] for line in _render_parameter(parameter)]
    answer_known = "yes" if tool.response_schema or tool.example_response or tool.learnt_response else "no"
    head = f"{tool.api[:120]} of {tool.toolset[:80]} ({tool.method})"
    return "\n".join(
        [
            head,
            f"  {clean_text(tool.description, _MAX_DESCRIPTION)}",
            *parameters,
            f"  answer described: {answer_known}",
        ]
    )


def _render_parameter(parameter: Parameter) -> Iterator[str]:
    """Yield the line of a parameter, then those of its fields."""
    yield f"  {_render_line(parameter.name, parameter.type, parameter.description, required=parameter.required)}"
    schema = read_value(parameter.json_schema) if parameter.json_schema else None
    if isinstance(schema, dict):
        yield from (
            f"    {line}" for line in islice(_FieldLister(schema).list_fields(schema, "", _MAX_DEPTH), _MAX_FIELDS)
        )


@dataclass(slots=True)
class _FieldLister:
    """Lister of the fields of one schema. References are followed within it."""

    root: JsonObject
    remaining: int = _MAX_NODES
    """Parts that may still be visited."""

    def list_fields(self, node: JsonValue, path: str, depth: int) -> Iterator[str]:
        """Yield the lines of an object's fields, of a list's items and of every alternative."""
        self.remaining -= 1
        node = _resolve_reference(node, self.root)
        if not isinstance(node, dict) or depth <= 0 or self.remaining < 0:
            return
        needed, properties = node.get("required"), node.get("properties")
        for name, field in properties.items() if isinstance(properties, dict) else ():
            resolved = _resolve_reference(field, self.root)
            field_schema = resolved if isinstance(resolved, dict) else {}
            field_path = f"{path}.{name}" if path else name
            required = isinstance(needed, list) and name in needed
            yield _render_line(
                field_path,
                str(field_schema.get("type", "any")),
                str(field_schema.get("description", "")),
                required=required,
            )
            yield from self.list_fields(field_schema, field_path, depth - 1)
        yield from self.list_fields(node.get("items"), f"{path}[]", depth - 1)
        for keyword in ("allOf", "anyOf", "oneOf"):
            options = node.get(keyword)
            for option in options if isinstance(options, list) else ():
                yield from self.list_fields(option, path, depth - 1)


def _resolve_reference(node: JsonValue, root: JsonObject) -> JsonValue:
    """Return the target of a reference within the schema, one step; else the node itself."""
    reference = node.get("$ref") if isinstance(node, dict) else None
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return node
    target: JsonValue = root
    for key in reference[2:].split("/"):
        target = cast("JsonObject", target).get(key) if isinstance(target, dict) else None
    return target


def _render_line(name: str, kind: str, text: str, *, required: bool) -> str:
    described = clean_text(text, _MAX_PARAMETER_TEXT)
    return f"{clean_text(name, 60)} ({clean_text(kind, 20)}{', required' if required else ''})" + (
        f": {described}" if described else ""
    )


_MAX_REASON = 300
_MAX_CALLS = 2
"""Model calls for one batch: a complaint is sent back once."""


class NumberedJudgement(BaseModel):
    """Judgement of one document, by its number in the message."""

    number: int
    keep: bool
    reason: str
    speaks_to_model: bool = False


class JudgementsAnswer(BaseModel):
    """Answer of the model, in the format that ``agent/prompts/judge.md`` asks for."""

    judgements: list[NumberedJudgement]


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """Judge that asks a language model. The judgement of a document may depend on the others of its batch."""

    model: ChatModel
    seconds: float = 60.0
    """Seconds that one answer may take."""

    @property
    def name(self) -> str:
        """Return the name of the model."""
        return f"the model {self.model.name}"

    async def judge(self, tools: Sequence[ToolDoc]) -> Sequence[QualityJudgement]:
        """Return a judgement for each document, in order.

        Raises:
            ModelUnavailableError: the model gives no answer.
            InvalidDecisionError: its answer cannot be used.
        """
        fence = PromptFence()
        documents = "\n\n".join(f"{number}. {render_document(tool)}" for number, tool in enumerate(tools, start=1))
        message = fence.build_message(fence.render_block("documents", documents), f"The {len(tools)} judgements?")

        def find_complaint(answer: JudgementsAnswer) -> str:
            numbers = sorted(judgement.number for judgement in answer.judgements)
            return (
                ""
                if numbers == list(range(1, len(tools) + 1))
                else f"a judgement for each of the numbers 1 to {len(tools)} is needed, once."
            )

        prompter = ModelPrompter(self.model, ModelAllowance(seconds=_MAX_CALLS * self.seconds, model_calls=_MAX_CALLS))
        answer, _ = await prompter.decide(
            "judge", [await load_instructions("judge"), message], JudgementsAnswer, find_complaint
        )
        if answer is None:
            raise InvalidDecisionError("the model gave no judgements that can be used")
        by_number = {judgement.number: judgement for judgement in answer.judgements}
        return [_to_judgement(by_number[number]) for number in range(1, len(tools) + 1)]


def _to_judgement(numbered: NumberedJudgement) -> QualityJudgement:
    reason = clean_text(numbered.reason, _MAX_REASON)
    if numbered.speaks_to_model:
        return QualityJudgement(keep=False, reasons=(f"it speaks to the model that reads it: {reason}",))
    return QualityJudgement(numbered.keep, (reason,) if reason else ())
