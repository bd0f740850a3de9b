"""Values of calls as n8n writes them: texts as they are, what is computed as an expression between double braces."""

import json
import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from pydantic.types import JsonValue

from domain.errors import NotLinearError, UsageError
from domain.plan_document import PlannedStep, Take
from domain.tool import Parameter, ToolDoc

INPUTS = "Inputs"
_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


def literal(value: JsonValue) -> str:
    """A value as JavaScript writes it. No braces stand side by side, which would end the expression that it is in."""
    match value:
        case dict():
            fields = ", ".join(f"{literal(name)}: {literal(one)}" for name, one in value.items())
            return f"{{ {fields} }}"
        case list():
            return f"[{', '.join(map(literal, value))}]"
        case _:
            return json.dumps(value).replace("{", "\\u007b").replace("}", "\\u007d")


def of_input(name: str) -> str:
    """The value of an input."""
    return f"$({literal(INPUTS)}).item.json[{literal(name)}]"


def of_answer(node: str, field: str) -> str:
    """The value at a place of what a node was answered."""
    parts = "".join(f"[{one[1]}]" if one[1] else f"[{literal(one[2])}]" for one in _PART.finditer(field))
    return f"$({literal(node)}).item.json.body{parts}"


def expression(code: str) -> str:
    """A field that is computed."""
    return f"={{{{ {code} }}}}"


def plain(value: JsonValue) -> str:
    """A constant as a field: a text is one, unless it looks like an expression."""
    if isinstance(value, str):
        return expression(literal(value)) if value.startswith("=") or "{{" in value else value
    return expression(literal(value))


class StepValues:
    """The values of a call, whatever they are taken from. ``nodes``: names of the nodes of the steps, by number."""

    def __init__(self, step: PlannedStep, tool: ToolDoc, nodes: Mapping[int, str]) -> None:
        self._step = step
        self._nodes = nodes
        self.tool = tool
        known = {one.name: one for one in tool.parameters}
        given = (*step.arguments, *step.takes, *step.named)
        if strange := [name for name in given if name not in known]:
            raise UsageError(f"{tool.api} has no parameter {strange[0][:80]}: check the program first")
        if open_ := [one.name for one in tool.required if one.name not in given]:
            raise UsageError(f"the program leaves {open_[0]} of {tool.api} open, which only a run of Footpath finds")
        self.given = [known[name] for name in given if step.arguments.get(name, True) is not None]

    def code(self, parameter: Parameter) -> str:
        """A value as JavaScript."""
        name = parameter.name
        if name in self._step.takes:
            return self._taken(parameter, self._step.takes[name])
        return of_input(self._step.named[name]) if name in self._step.named else literal(self._step.arguments[name])

    def field(self, parameter: Parameter) -> str:
        """A value as a field of a node."""
        constant = parameter.name in self._step.arguments
        return plain(self._step.arguments[parameter.name]) if constant else expression(self.code(parameter))

    def header(self, parameter: Parameter) -> str:
        """A value as a field that n8n sends as a text: it would leave out a header that is false."""
        self.single(parameter, "a header")
        value = self._step.arguments.get(parameter.name)
        if value is not None:
            return plain(value if isinstance(value, str) else json.dumps(value))
        return expression(f"String({self.code(parameter)})")

    def url(self) -> str:
        """The address with the values of its path in their places."""
        url, places = self.tool.url, {one.wire_name: one for one in self.at("path")}
        if "{" in urlsplit(url).netloc or "{" in url.partition("://")[0]:
            raise UsageError(f"the address of {self.tool.api} lets a value choose the host; correct its document")
        parts: list[str] = []
        at = 0
        for hit in _PLACEHOLDER.finditer(url):
            if (parameter := places.get(hit[1])) is None:
                raise UsageError(f"the address of {self.tool.api} needs a value for {hit[1][:80]}")
            parts += [literal(url[at : hit.start()]), self._in_path(parameter)]
            at = hit.end()
        rest = [literal(url[at:])] if url[at:] else []
        return expression(" + ".join([*parts, *rest])) if parts else url

    def at(self, location: str) -> list[Parameter]:
        """The parameters that are given and go to one place of a request; those that the address has a place for go there."""
        places = {hit.casefold() for hit in _PLACEHOLDER.findall(self.tool.url)}

        def where(one: Parameter) -> str:
            placed = one.location in ("path", "query", "body") and one.wire_name.casefold() in places
            return "path" if placed else one.location

        return [one for one in self.given if where(one) == location]

    def _in_path(self, parameter: Parameter) -> str:
        self.single(parameter, "a path")
        return f"encodeURIComponent({self.code(parameter)})"

    def single(self, parameter: Parameter, place: str) -> None:
        """``UsageError``: it is made of several values, or has a style of its own, which the node would write otherwise."""
        structured = parameter.type in ("array", "object", "any") or parameter.allow_reserved
        if structured or parameter.style not in (None, "form", "simple"):
            raise UsageError(f"{self.tool.api} takes {parameter.name} in {place} in a style that n8n does not write")

    def _taken(self, parameter: Parameter, take: Take) -> str:
        if "[]" in take.field:
            raise NotLinearError(
                f"{self.tool.api} takes {parameter.name} from the item of a list that the request names, which only a run of Footpath"
                " finds"
            )
        return of_answer(self._nodes[take.step], take.field)


def pairs(names: Iterable[Parameter], values: StepValues) -> dict[str, JsonValue]:
    """Names with their values, as a node lists them."""
    return {"parameters": [{"name": one.wire_name, "value": values.field(one)} for one in names]}
