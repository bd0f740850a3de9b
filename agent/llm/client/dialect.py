"""The parts of OpenAI's protocol that an endpoint accepts, learnt from its refusals and kept by the process."""

from dataclasses import dataclass, field
from typing import Any, Literal

from agent.llm.client.chat import AnswerForm

AnswerFormat = Literal["auto", "json_schema", "json_object", "text"]
_FORM_LADDER: tuple[AnswerFormat, ...] = ("json_schema", "json_object", "text")
"""Forms of an answer from strict to free."""
_FORM_WORDS = ("response_format", "json_schema", "json_object", "json mode", "structured output", "guided", "grammar")
"""Words of refusals that are about the form of the answer."""
_TOKEN_NAMES = ("max_tokens", "max_completion_tokens")


@dataclass(slots=True)
class EndpointDialect:
    """The way to write a request for one endpoint.

    OpenAI's newer models take no ``max_tokens`` and no ``temperature``; older servers know no ``max_completion_tokens``
    and refuse ``stream_options``; many know no schemas. Each part is left out once a refusal names it.
    """

    structured: AnswerFormat = "auto"
    """The setting: ``auto`` begins with a schema and falls back to freer forms."""
    temperature: float | None = 0.0
    max_tokens: int | None = None
    sampling: dict[str, float | int | None] = field(default_factory=dict[str, "float | int | None"])
    """Further sampling parameters, by their name in the protocol."""
    token_name: str = "max_tokens"  # noqa: S105  # the length bound's name
    """Name of the field that limits the length; empty if the endpoint knows none."""
    form: AnswerFormat = field(init=False)
    """The form that is used now."""
    usage_in_stream: bool = True
    """Ask for the token usage at the end of a stream."""
    _form_accepted: bool = field(default=False, init=False)
    """True once a request with a form was answered."""
    _tried_names: set[str] = field(default_factory=set[str], init=False)

    def __post_init__(self) -> None:
        self.form = "json_schema" if self.structured == "auto" else self.structured

    def build_body(self, form: AnswerForm | None, *, stream: bool = False) -> dict[str, Any]:
        """Build the fields of the request's body besides model and messages."""
        body: dict[str, Any] = {}
        if self.temperature is not None:
            body["temperature"] = self.temperature
        body |= {name: value for name, value in self.sampling.items() if value is not None}
        if self.max_tokens is not None and self.token_name:
            body[self.token_name] = self.max_tokens
        if stream and self.usage_in_stream:
            body["stream_options"] = {"include_usage": True}
        if form is not None and self.form == "json_schema":
            schema_fields = {"name": form.name, "schema": form.json_schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": schema_fields}
        elif form is not None and self.form == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def record_success(self, form: AnswerForm | None) -> None:
        """Record an answered request with a form: a later refusal has other causes."""
        self._form_accepted = self._form_accepted or form is not None

    def concede(self, refusal: str, body: dict[str, Any]) -> bool:
        """Leave out the part that a refusal (status 400, 422, 500 or 501) is about.

        Returns False if there is nothing left to try without.
        """
        folded_refusal = refusal.lower()
        if "temperature" in body and "temperature" in folded_refusal:
            self.temperature = None
            return True
        for name in ("top_k", "top_p"):
            if name in body and name in folded_refusal:
                self.sampling[name] = None
                return True
        if "stream_options" in body and ("stream_options" in folded_refusal or "include_usage" in folded_refusal):
            self.usage_in_stream = False
            return True
        if self.token_name in body and any(name in folded_refusal for name in _TOKEN_NAMES):
            self._tried_names.add(self.token_name)
            self.token_name = next((name for name in _TOKEN_NAMES if name not in self._tried_names), "")
            return True
        return "response_format" in body and self._concede_form(folded_refusal)

    def _concede_form(self, folded_refusal: str) -> bool:
        """Go one form down if the setting allows it and the refusal is about the form, or may be."""
        if self.structured != "auto" or (
            self._form_accepted and not any(word in folded_refusal for word in _FORM_WORDS)
        ):
            return False
        self.form = _FORM_LADDER[_FORM_LADDER.index(self.form) + 1]
        return True
