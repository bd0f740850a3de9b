"""What is written is a negative of its request and nothing else; what is made up is learnt from within the recipe's share."""

from retriever.training.batches import NegativeSampler, find_neighbours
from retriever.training.examples import TrainingExample, add_negatives, add_requests, split_examples
from retriever.training.recipe import TrainingRecipe
from retriever.training.synthetic_requests import SyntheticRequest
from retriever.training.written_negatives import WrittenNegative
from tests.support.small_catalogue import DOCUMENTS, catalogue, document, example, row

KNOWN = {one.id: one for one in DOCUMENTS}
RAIN = document("sky", "rain")


def negative(request: str, tool: str = RAIN.id, api: str = "rain gauges") -> WrittenNegative:
    return WrittenNegative(request=request, tool=tool, api=api, description="List the rain gauges of a city", by="m")


async def test_a_written_document_is_a_negative_of_its_request_only() -> None:
    corpus = catalogue()
    examples = [
        example(corpus, "will it rain", ("sky", "rain")),
        example(corpus, "rain gauges of a city, and the wind", ("sky", "wind")),
    ]
    grown, told = add_negatives(corpus, examples, [negative("will it rain"), negative("will it rain")], KNOWN)
    assert len(grown.ids) == len(grown.texts) == len(grown.lexical_texts) == len(grown.names) == len(corpus.ids) + 1
    assert grown.texts[-1].startswith("sky: rain gauges. List the rain gauges of a city")
    assert [one.written_negative_rows for one in told] == [(len(corpus.ids),), ()]
    near = await find_neighbours(grown, told, 20)
    negatives = NegativeSampler(grown, told, near, TrainingRecipe())
    written = len(corpus.ids)
    assert all(written not in rows for kept in ("near", "siblings") for rows in negatives.state[kept])
    assert negatives.state["written"] == [[written], []]


def test_what_belongs_to_no_request_or_tool_is_passed_over() -> None:
    corpus = catalogue()
    examples = [example(corpus, "will it rain", ("sky", "rain"))]
    written = [negative("another request"), negative("will it rain", tool="c/none/none")]
    assert add_negatives(corpus, examples, written, KNOWN) == (corpus, examples)


def made_up(count: int) -> list[SyntheticRequest]:
    return [SyntheticRequest(request=f"made up {n}", tool=DOCUMENTS[n % len(DOCUMENTS)].id) for n in range(count)]


def test_made_up_requests_keep_to_their_share_and_are_not_judged_by() -> None:
    corpus = catalogue()
    own = [example(corpus, f"request {number}", ("sky", "rain")) for number in range(80)]
    recipe = TrainingRecipe(held_out=0.25, synthetic_share=0.25, synthetic_per_api=50)
    told = add_requests(corpus, own, made_up(100), recipe)
    learnt, judged = split_examples(told, recipe.held_out)
    assert len(judged) == 20
    assert sum(one.synthetic for one in learnt) == 0.25 * len(learnt) == 20
    assert not any(one.synthetic for one in judged)
    assert all(one.out_of_domain for one in told if one.synthetic)
    assert told == add_requests(corpus, own, made_up(100), recipe)
    assert add_requests(corpus, own, made_up(100), recipe.model_copy(update={"synthetic_share": 0.0})) == own


def test_no_api_has_more_than_its_number_of_made_up_requests() -> None:
    corpus = catalogue()
    own = [example(corpus, f"request {number}", ("sky", "rain")) for number in range(1_000)]
    told = [
        one for one in add_requests(corpus, own, made_up(100), TrainingRecipe(synthetic_per_api=2)) if one.synthetic
    ]
    solved = [one.positive_rows for one in told]
    assert sorted(solved) == sorted([(place,) for place in range(len(corpus.ids))] * 2)


def test_a_made_up_request_of_an_unknown_tool_or_one_that_is_known_is_passed_over() -> None:
    corpus = catalogue()
    own = [TrainingExample(f"request {number}", (row(corpus, "sky", "rain"),)) for number in range(80)]
    others = [SyntheticRequest(request="x y z", tool="c/a/b"), SyntheticRequest(request="request 1", tool=RAIN.id)]
    assert add_requests(corpus, own, others, TrainingRecipe()) == own
