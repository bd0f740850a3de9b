"""What calls have changed: one entry for each effect, so that a test can tell whether anything happened twice."""

from dataclasses import dataclass, field

from domain.model import JsonObject


@dataclass(frozen=True, slots=True)
class Effect:
    """One change. ``tool`` is the operation; ``at_seq`` numbers the effects from 1 and never starts anew but by a reset."""

    id: str
    tool: str
    at_seq: int
    arguments: JsonObject


@dataclass(slots=True)
class Ledger:
    """The effects of one running application, in order."""

    effects: list[Effect] = field(default_factory=list[Effect])
    _written: int = 0

    def record(self, tool: str, arguments: JsonObject) -> Effect:
        """Add an effect. Its number is what identifiers of new things are made from."""
        self._written += 1
        effect = Effect(f"eff_{self._written:06}", tool, self._written, arguments)
        self.effects.append(effect)
        return effect

    def clear(self) -> None:
        """Forget the effects; numbering goes on, so that identifiers stay unique."""
        self.effects.clear()
