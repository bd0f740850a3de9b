"""Sharing of solutions: which parts of an owner's solution all users may have.

A solution is shared by an administrator, who has read it, or automatically when several owners came to the same
program independently. Nobody reads the latter, so nothing of a single owner may be in it. Its constants are safe,
because all owners have the same. Of the parts that may differ between owners, such as names and the wording of the
answer, only words stay that the documents of its tools contain or that enough owners use. The words of patterns must
be used by enough owners, too: otherwise one owner could make the program answer other people's requests.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

from agent.memory.request_patterns import build_pattern, split_pattern_words
from agent.parameter_needs import derive_need
from agent.plans.plan_compilation import PARAMETER_KEYWORD
from agent.programs.analysis.canonical_form import build_canonical_form, rewrite_for_sharing
from agent.programs.analysis.slices import find_user_answered_parameters, is_answer_from_calls
from agent.programs.function_names import PROGRAM_NAMES
from agent.programs.program_types import ASK
from agent.solutions.evidence import compute_solution_id, hash_owner, rename_patterns
from agent.text import clean_text
from domain.errors import ConflictError
from domain.model import JsonObject
from domain.program import Program, ProgramPlan
from domain.solution import Solution, get_program_id
from domain.source_text import normalize_source, parse_source
from domain.tool import Parameter, ToolDoc, ToolId
from graph.identifiers import split_words

MIN_OWNERS = 3
"""Number of owners who must have come to a program independently before it is shared automatically."""
MIN_USES = 3
"""Number of requests that it must have served since."""
_QUESTION_WINDOW = 80
"""Half the length of the overlapping parts, in characters, in which the texts of questions are examined."""
_NAMED_INPUT = re.compile(r"\{(\w+)\}")
_WORD = re.compile(r"[^\W_]+")
_WORD_OR_GAP = re.compile(r"[^\W_]+|[\W_]+")
_CAMEL_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SECRET_WORDS = frozenset({"cvc", "cvv", "otp", "passcode", "passphrase", "pin", "tan"})
"""Words that show that a question asks for a secret, besides the words for keys and passwords."""


def build_shareable(solution: Solution, docs: Mapping[ToolId, ToolDoc]) -> Solution:
    """Return an owner's solution in a form that an administrator may share with all users.

    Runs, verdicts, comments and patterns that contain a value are removed.

    Raises:
        ConflictError: its author had seen responses, its answer does not depend on its calls, it asks users for
            secrets, or each of its patterns contains a value; the message says what to do.
    """
    ensure_shareable(solution, docs)
    if solution.plan.program.tainted:
        raise ConflictError(
            "its program was written after what tools had answered was shown to its author: write it anew, and share that"
        )
    patterns = tuple(text for text in solution.patterns if not _has_value(text))
    if not patterns:
        raise ConflictError(
            "each request that it serves holds a value of its owner's: name an input in its place, and share it then"
        )
    text = normalize_source(solution.plan.program.text)
    return _strip_history(solution, _replace_text(solution.plan, text), patterns).model_copy(update={"promoted": True})


def ensure_shareable(solution: Solution, docs: Mapping[ToolId, ToolDoc]) -> None:
    """Raise ``ConflictError`` if a program must not be shared with all users.

    It must not if its answer depends on no call, or if it asks users for what must stay private.
    """
    program = solution.plan.program
    if not is_answer_from_calls(program):
        raise ConflictError(
            "its answer does not depend on what its calls answer, so that it would tell everybody its author's words: "
            "have the program answer with what a call gave, and share that"
        )
    if why := next(_find_improper_questions(solution, docs), ""):
        raise ConflictError(f"{why}; have it ask nothing of the kind, and share that")


def _find_improper_questions(solution: Solution, docs: Mapping[ToolId, ToolDoc]) -> Iterator[str]:
    """Yield the reasons why the questions of a program must not be put to all users.

    It asks for a secret, or passes what users answer to a secret parameter or to another host than that of its first
    tool.
    """
    program = solution.plan.program
    for text in _collect_question_texts(program):
        parts = (
            text[at : at + 2 * _QUESTION_WINDOW] for at in range(0, len(text), _QUESTION_WINDOW)
        )  # only the beginning of a long name is examined
        if any(
            _SECRET_WORDS & set(split_words(part))
            or derive_need(Parameter(name="_".join(split_words(part)))).kind == "secret"
            for part in parts
        ):
            yield f"it asks users for a secret: “{clean_text(text, 120)}”"
    first = next((docs[tool].host for tool in solution.path if tool in docs), "")
    for function, name in sorted(find_user_answered_parameters(program)):
        doc = docs.get(program.tools[function])
        parameters = [parameter for parameter in doc.parameters if parameter.name == name] if doc is not None else []
        if any(derive_need(parameter).kind == "secret" for parameter in parameters):
            yield f"what users answer goes into the secret {clean_text(name, 60)} of {clean_text(function, 60)}"
        elif doc is None or doc.host != first:
            place = doc.host if doc is not None else "a tool that is gone"
            yield f"what users answer goes to {clean_text(place, 80)}, which is not where the program makes its first call"


def build_common_solution(same_program: Sequence[Solution], docs: Mapping[ToolId, ToolDoc]) -> Solution | None:
    """Return the common part of solutions with the same program, which may be shared with all users; None if none may.

    None if there are too few independent owners or successes, or no common pattern. Programs with side effects and
    programs that ask their user are shared by an administrator only; programs whose answer depends on no call never
    are. Patterns are taken only from runs that planned the program themselves (``planned``): a user who sends a program
    can claim any request for it.
    """
    trusted = [solution for solution in same_program if _is_trusted(solution)]
    owners = {solution.owner for solution in trusted}
    if len(owners) < MIN_OWNERS or sum(solution.good for solution in trusted) < MIN_USES:
        return None
    if not all(tool in docs and docs[tool].safe for solution in trusted for tool in collect_tools(solution)):
        return None
    if not all(
        is_answer_from_calls(solution.plan.program) and not _has_questions(solution.plan.program)
        for solution in trusted
    ):
        return None
    public_words = _find_common_words(_collect_texts(trusted)) | _collect_documented_words(docs.values())
    common_words = _find_common_words((solution.owner, text) for solution in trusted for text in solution.planned)
    schemas = _intersect_schemas([schema.plan for schema in trusted])
    anonymized = {solution.id: _anonymize_plan(solution.plan, public_words) for solution in trusted}

    def rank_private_names(solution: Solution) -> tuple[int, int]:
        """Rank a solution by how many names had to be replaced, those of inputs first."""
        names = anonymized[solution.id][1]
        return len(names.keys() & solution.plan.inputs.keys()), len(names)

    base = min(trusted, key=lambda one: (rank_private_names(one), -one.good, one.id))
    texts = [text for solution in trusted for text in rename_patterns(base, solution, solution.planned)]
    patterns = tuple(
        text for text in dict.fromkeys(texts) if split_pattern_words(_NAMED_INPUT.sub(" ", text)) <= common_words
    )
    plan, names = anonymized[base.id]
    agreed_schemas = {
        names.get(name, name): solution
        for name, solution in zip(build_canonical_form(base.plan).inputs, schemas, strict=True)
    }
    plan = plan.model_copy(update={"inputs": {name: agreed_schemas[name] for name in plan.inputs}})
    # Renaming must not have changed the program.
    if not patterns or compute_solution_id("", plan) != get_program_id(base.id):
        return None
    renamed = tuple(_NAMED_INPUT.sub(lambda hit: "{" + names.get(hit[1], hit[1]) + "}", text) for text in patterns)
    return _strip_history(base, plan, renamed).model_copy(
        update={
            "good": sum(solution.good for solution in trusted),
            "bad": sum(solution.bad for solution in trusted),
            "sharers": tuple(sorted(map(hash_owner, owners))),
        }
    )


def collect_tools(solution: Solution) -> set[ToolId]:
    """Return all tools that a solution may call."""
    return {*solution.path, *solution.plan.program.tools.values()}


def _collect_question_texts(program: Program) -> list[str]:
    """Return the texts that the questions of a program may consist of: all its constants, if it asks anything."""
    return list(parse_source(program.text).string_constants) if _has_questions(program) else []


def _has_questions(program: Program) -> bool:
    """Return whether a program asks its user anything."""
    return ASK in parse_source(program.text).read_names


def _intersect_schemas(plans: Sequence[ProgramPlan]) -> list[JsonObject]:
    """Return the part of each input's schema that all plans share, in the order of inputs in the canonical form.

    The name that people see for an input is left out, because its owner may have chosen it.
    """
    schemas_by_plan = [[plan.inputs[name] for name in build_canonical_form(plan).inputs] for plan in plans]
    return [
        {
            key: value
            for key, value in first.items()
            if key != PARAMETER_KEYWORD and all(schema.get(key) == value for schema in others)
        }
        for first, *others in zip(*schemas_by_plan, strict=True)
    ]


def _is_trusted(solution: Solution) -> bool:
    """Return whether a solution counts as independent evidence for its program.

    It does if runs of its owner planned it, nobody sent it, and it has not failed more often than it served.
    """
    made_by_runs = solution.origin == "run" and bool(solution.planned)
    is_owned_plan = bool(solution.owner) and made_by_runs and not solution.plan.program.tainted
    return is_owned_plan and not solution.suspended and not solution.wrong and solution.good >= solution.bad


def _has_value(text: str) -> bool:
    """Return whether a pattern contains something that looks like a value."""
    return "<" in build_pattern(_NAMED_INPUT.sub("it", text))


def _strip_history(solution: Solution, plan: ProgramPlan, patterns: tuple[str, ...]) -> Solution:
    """Return a solution without owner, runs, verdicts and fingerprints."""
    return Solution(
        id="",
        plan=plan,
        patterns=patterns,
        path=solution.path,
        origin=solution.origin,
        outputs=solution.outputs,
        good=solution.good,
        bad=solution.bad,
        at=solution.at,
    )


def _replace_text(plan: ProgramPlan, text: str) -> ProgramPlan:
    return ProgramPlan(program=plan.program.model_copy(update={"text": text, "stubs": ""}), inputs=plan.inputs)


def _collect_texts(solutions: Sequence[Solution]) -> Iterator[tuple[str, str]]:
    """Yield all texts of these solutions that may contain words of their owners, each with its owner."""
    for solution in solutions:
        texts = (*solution.patterns, normalize_source(solution.plan.program.text), *solution.plan.inputs)
        yield from ((solution.owner, text) for text in texts)


def _find_common_words(texts_by_owner: Iterable[tuple[str, str]]) -> AbstractSet[str]:
    """Return the words that enough owners use."""
    by_owner: dict[str, set[str]] = {}
    for owner, text in texts_by_owner:
        by_owner.setdefault(owner, set()).update(_split_words(text))
    owner_counts = Counter(word for words in by_owner.values() for word in words)
    return {word for word, owners in owner_counts.items() if owners >= MIN_OWNERS}


def _collect_documented_words(docs: Iterable[ToolDoc]) -> AbstractSet[str]:
    return {word for doc in docs for word in _split_words(doc.model_dump_json(exclude={"learnt_response"}))}


def _split_words(text: str) -> Iterator[str]:
    for part in (text, _CAMEL_BOUNDARY.sub(" ", text)):
        yield from (word.casefold() for word in _WORD.findall(part))
        yield from split_pattern_words(part)


def _anonymize_plan(plan: ProgramPlan, public: AbstractSet[str]) -> tuple[ProgramPlan, dict[str, str]]:
    """Return a plan without words that are not public, and the new names by the old ones.

    Names of inputs and variables with such words are replaced, and the words are removed from the answer.
    """
    bound = parse_source(plan.program.text).bound_names
    fixed_names = {*plan.program.tools, *PROGRAM_NAMES}
    names: dict[str, str] = {}
    for name in [*plan.inputs, *sorted(bound - plan.inputs.keys() - fixed_names)]:
        if not set(_split_words(name)) <= public:
            used_names = {*names.values(), *bound, *plan.inputs, *fixed_names}
            names[name] = next(
                new for number in range(1, len(used_names) + 2) if (new := f"value_{number}") not in used_names
            )
    keep_public = partial(_keep_public_words, public=public)
    text = rewrite_for_sharing(plan.program.text, names, keep_public, plan.program.tools)
    inputs = {names.get(name, name): schema for name, schema in plan.inputs.items()}
    return _replace_text(plan.model_copy(update={"inputs": inputs}), text), names


def _keep_public_words(text: str, public: AbstractSet[str]) -> str:
    """Return a text without words that are not public; the punctuation between them stays."""
    parts = _WORD_OR_GAP.findall(text)
    return "".join(part for part in parts if not _WORD.fullmatch(part) or part.casefold() in public)
