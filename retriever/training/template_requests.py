"""Synthetic requests without a model: the first sentence of a tool's document as a wish or a question.

They are clearly weaker than those of a model or a person: the words are the document's own, so an encoder learns from
them what BM25 finds anyway, and not how people ask. They exist so that a tool without recorded requests occurs in
training at all.
"""

import random
import re

from domain.tool import Parameter, ToolDoc
from retriever.words import split_identifier, split_words, truncate_words

OFFLINE = "offline"
"""Author that is recorded for such requests."""

_SENTENCE = re.compile(r"(?<=[.!?])\s|\n|<br|</p>")
_MARKUP = re.compile(r"<[^>]{0,200}>|[*`#]+")
_SUBJECT = re.compile(
    r"^(?:via|use|call|with|using)? ?(?:(?:this|the|our) )?(?:(?:api|endpoint|call|method|operation|route|resource|function|service)s?,? )?"
    r"(?:this )?(?:you )?(?:(?:is|are|can be) used |will |would |can |may |(?:allows?|enables?|lets?|helps?) (?:you |users? |one )?|is for |for )?(?:to )?",
    re.IGNORECASE,
)
_VERBS = frozenset(
    split_words(
        "get list find search return retrieve fetch show give provide check create add delete remove update set convert "
        "calculate compute generate send validate verify translate look download upload extract detect analyze compare count "
        "track display obtain read query lookup predict estimate scrape"
    )
)
_VERB_SYNONYMS = {
    "return": "get",
    "retrieve": "get",
    "fetch": "get",
    "provide": "get",
    "obtain": "get",
    "query": "look up",
}
_VERB_TEMPLATES = (
    "I need to {}.",
    "Please {}.",
    "Can you {}?",
    "How can I {}?",
    "I'd like to {}.",
    "Could you help me {}?",
    "For a project I have to {}.",
)
_NOUN_TEMPLATES = (
    "I am looking for {}.",
    "Can you give me {}?",
    "I need {}.",
    "Where do I find {}?",
    "Show me {}, please.",
    "I'd like to see {}.",
)
_NAMED_SHARE = 0.2
"""Probability that a request names the tool set, as some people do."""
_MAX_WORDS = 22
_VALUE = re.compile(r"[\w .,:@/+-]{1,40}")
_SECRET = re.compile(r"key|token|secret|auth|password|host|format|callback", re.IGNORECASE)


def build_template_requests(tool: ToolDoc, count: int, seed: int) -> list[str]:
    """Return up to ``count`` different requests; none without usable text.

    The same document and seed give the same requests. Templates are weaker than a model: the words are the document's
    own, so an encoder learns from them what BM25 finds anyway, but a tool without recorded requests occurs in
    training at all.
    """
    rng = random.Random(f"{seed} {tool.id}")
    wish = _build_wish(_extract_first_sentence(tool.description)) or _build_wish(
        _extract_first_sentence(split_identifier(tool.api))
    )
    if not wish:
        return []
    is_verb, phrase = wish
    forms = list(_VERB_TEMPLATES if is_verb else _NOUN_TEMPLATES)
    rng.shuffle(forms)
    values, toolset_name = _collect_values(tool), tool.toolset.replace("_", " ")
    requests: list[str] = []
    for form in forms[:count]:
        body = phrase
        if values and rng.random() < 0.7:
            body += " for " + " and ".join(rng.sample(values, min(len(values), rng.choice((1, 1, 2)))))
        if rng.random() < _NAMED_SHARE:
            body += f" with {toolset_name}"
        request = form.format(body)
        requests.append(request[0].upper() + request[1:])
    return requests


def _extract_first_sentence(text: str) -> str:
    plain = _SENTENCE.split(text[:2_000].strip(), maxsplit=1)[0]
    return truncate_words(_MARKUP.sub(" ", plain), _MAX_WORDS).strip(" .,:;!?-")


def _build_wish(sentence: str) -> tuple[bool, str] | None:
    """Return whether the sentence begins with a verb, and the phrase to put into a template.

    None if the phrase has fewer than two words.
    """
    phrase = _SUBJECT.sub("", sentence, count=1).strip()
    first, _, rest = phrase.partition(" ")
    if len(phrase.split()) < 2:
        return None
    verb = _find_verb(first.lower())
    if verb and not rest.lower().startswith("of "):  # "list of cities" is a thing
        return True, f"{_VERB_SYNONYMS.get(verb, verb)} {rest}"
    return False, phrase if first.isupper() else first[0].lower() + phrase[1:]


def _find_verb(word: str) -> str:
    """Return the known verb that a word is a form of, as in ``returns`` and ``searches``; else empty."""
    for form in (word, word.removesuffix("s"), word.removesuffix("es")):
        if form in _VERBS:
            return form
    return ""


def _collect_values(tool: ToolDoc) -> list[str]:
    """Return up to three example values of parameters, required ones first, without keys and formats."""
    ordered = sorted(tool.parameters, key=lambda parameter: not parameter.required)
    values = (_format_value(parameter) for parameter in ordered if not _SECRET.search(parameter.name))
    return [value for value in values if value][:3]


def _format_value(parameter: Parameter) -> str:
    value = parameter.example if parameter.example is not None else parameter.default
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value).strip()
    return f"{split_identifier(parameter.name)} {text}" if text and _VALUE.fullmatch(text) else ""
