"""Read English requests by rules, and review runs against them: an :class:`agent.request_reader.RequestReader`."""

from collections.abc import Sequence
from datetime import date

from pydantic.types import JsonValue

from agent.parameter_needs import derive_need
from agent.policy.protocol import ArgumentsQuestion, Results
from agent.request_reader import InputCoverage, RequestReview
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc, ToolId
from offline.coverage import blend_relevance, collect_vocabulary, normalize_clause
from offline.nlp.clauses import split_clauses
from offline.nlp.entities import find_spans
from offline.repeated_calls import count_asked_things
from offline.request_match import describe_mismatches, find_unused_names, is_unrelated
from offline.slots.binding import WHOLE_REQUEST, bind, check_fillable
from offline.slots.slot_values import convert_span
from offline.slots.span_readings import get_today
from offline.unapplied_filters import describe_unknown_numbers, find_empty_collection, find_unapplied_filters


class EnglishReader:
    """Reads the requests of one run; the words of each tool are cached.

    ``day``: the day that relative dates count from; by default the local date.
    """

    def __init__(self, day: date | None = None) -> None:
        self._day = day
        self._vocabularies: dict[ToolId, frozenset[str]] = {}

    def split_request(self, request: str) -> tuple[str, ...]:
        """Split a request into its clauses."""
        return split_clauses(request) or (request,)

    def normalize_part(self, part: str) -> str:
        """Return a part without its values, with synonyms of its words."""
        return normalize_clause(part)

    def score_relevance(self, similarity: float, part: str, tool: ToolDoc) -> float:
        """Return the mean of the similarity and of the share of the part's words that the tool's document has."""
        if tool.id not in self._vocabularies:
            self._vocabularies[tool.id] = collect_vocabulary(tool)
        return blend_relevance(similarity, part, self._vocabularies[tool.id])

    def check_inputs(self, tool: ToolDoc, request: str, path: Sequence[ToolDoc]) -> InputCoverage:
        """Find the required inputs that neither the request nor documented outputs of the path can fill."""
        return check_fillable(tool, request, path)

    def count_repetitions(self, request: str) -> int:
        """Count the things for each of which the request may ask the same."""
        return count_asked_things(request)

    def interpret_values(self, text: str, parameter: Parameter) -> Sequence[JsonValue]:
        """Return the value of each entity of a text, in the form that the parameter asks for."""
        need = derive_need(parameter)
        read = [convert_span(span, need) for span in find_spans(text, self._day or get_today())]
        return [one for value in read for one in (value if isinstance(value, list) else (value,))]

    def find_known_values(self, request: str, tool: ToolDoc) -> JsonObject:
        """Return the arguments that the request alone gives, without any that are the whole request."""
        bound = bind(ArgumentsQuestion(request, tool, ()))
        from_whole_request = {binding.parameter for binding in bound.provenance if binding.reference == WHOLE_REQUEST}
        return {name: value for name, value in bound.values.items() if name not in from_whole_request}

    def review(self, request: str, steps: Results, prior_steps: Results = ()) -> RequestReview:
        """Review a run: what its calls were about, and which names and filters of the request they left out."""
        good = [(tool, result) for tool, result in steps if result.status == "ok"]
        others = [one for tool, result in good for one in describe_mismatches(tool, request, result)]
        others += describe_unknown_numbers(steps)
        unused_texts = [span.text for span in find_unused_names(request, (*prior_steps, *steps), self._day)]
        return RequestReview(
            mismatches=tuple(dict.fromkeys(others)),
            unused_values=tuple(dict.fromkeys(unused_texts)),
            is_unrelated=is_unrelated(request, (*prior_steps, *steps)),
            unapplied_filters=find_unapplied_filters(request, steps),
            empty_tool="" if good else find_empty_collection(request, steps),
        )
