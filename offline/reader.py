"""The English request reader: implements :class:`agent.request_reader.RequestReader` by rules."""

from collections.abc import Sequence
from datetime import date

from pydantic.types import JsonValue

from agent.parameters.needs import need_of
from agent.policy.protocol import ArgumentsQuestion, Results
from agent.request_reader import Fillable, Review
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc, ToolId
from offline.coverage import plain, supported, vocabulary
from offline.nlp.clauses import clauses
from offline.nlp.entities import spans
from offline.repeated_calls import asked_of
from offline.request_match import beside_the_point, elsewhere, unused
from offline.slots.binding import WHOLE, bind, fillable
from offline.slots.candidates import today
from offline.slots.slot_values import value_for
from offline.unsifted import elsewhere_than_asked, none_there, not_sifted


class EnglishReader:
    """Reads the requests of one run, and caches each tool's words.

    ``day``: what relative days count from, the local date by default.
    """

    def __init__(self, day: date | None = None) -> None:
        self._day = day
        self._words: dict[ToolId, frozenset[str]] = {}

    def parts(self, request: str) -> tuple[str, ...]:
        """Split a request into its clauses."""
        return clauses(request) or (request,)

    def wording(self, part: str) -> str:
        """Return a part without its values, with synonyms of its words."""
        return plain(part)

    def relevance(self, similarity: float, part: str, tool: ToolDoc) -> float:
        """Return the mean of the similarity and of the share of the part's words that the tool's document has."""
        if tool.id not in self._words:
            self._words[tool.id] = vocabulary(tool)
        return supported(similarity, part, self._words[tool.id])

    def fillable(self, tool: ToolDoc, request: str, path: Sequence[ToolDoc]) -> Fillable:
        """Find out what could fill a tool: the request's entities, and documented outputs of the path."""
        return fillable(tool, request, path)

    def repetitions(self, request: str) -> int:
        """Count the things of which the request may ask the same."""
        return asked_of(request)

    def values(self, text: str, parameter: Parameter) -> Sequence[JsonValue]:
        """Return the value of each entity of a text, in the form that the parameter asks for."""
        need = need_of(parameter)
        read = [value_for(span, need) for span in spans(text, self._day or today())]
        return [one for value in read for one in (value if isinstance(value, list) else (value,))]

    def known_values(self, request: str, tool: ToolDoc) -> JsonObject:
        """Bind what the request alone gives, without values that are the request as a whole."""
        bound = bind(ArgumentsQuestion(request, tool, ()))
        whole = {binding.parameter for binding in bound.provenance if binding.reference == WHOLE}
        return {name: value for name, value in bound.values.items() if name not in whole}

    def review(self, request: str, steps: Results, given: Results = ()) -> Review:
        """Review a run by the names, quotations, codes, days, superlatives and bounds of the request."""
        good = [(tool, result) for tool, result in steps if result.status == "ok"]
        others = [one for tool, result in good for one in elsewhere(tool, request, result)]
        others += elsewhere_than_asked(steps)
        left = [span.text for span in unused(request, (*given, *steps), self._day)]
        return Review(
            about_another=tuple(dict.fromkeys(others)),
            unused=tuple(dict.fromkeys(left)),
            beside_the_point=beside_the_point(request, (*given, *steps)),
            not_sifted=not_sifted(request, steps),
            none_there="" if good else none_there(request, steps),
        )
