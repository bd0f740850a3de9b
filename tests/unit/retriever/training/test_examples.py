"""What an encoder learns from, and what it is judged by."""

import pytest

from domain.errors import UsageError
from retriever.training.examples import TrainingExample, build_corpus, compute_fingerprint, count_kinds, split_examples
from tests.support.small_catalogue import DOCUMENTS, catalogue, document, row

OWN = [TrainingExample(f"request {number}", (number % 7,)) for number in range(40)]
FOREIGN = [TrainingExample(f"foreign {number}", (0,), out_of_domain=True) for number in range(10)]


def test_every_request_is_either_learnt_from_or_judged_by() -> None:
    learnt, judged = split_examples([*OWN, *FOREIGN], 0.25)
    assert len(judged) == 10
    assert {one.request for one in learnt} | {one.request for one in judged} == {
        one.request for one in [*OWN, *FOREIGN]
    }
    assert not {one.request for one in learnt} & {one.request for one in judged}


def test_foreign_requests_are_never_judged_by_and_do_not_change_who_is() -> None:
    learnt, judged = split_examples([*FOREIGN, *OWN], 0.25)
    assert not any(one.out_of_domain for one in judged)
    assert sum(one.out_of_domain for one in learnt) == 10
    assert judged == split_examples(OWN, 0.25)[1]


def test_a_made_up_request_is_counted_once() -> None:
    made_up = [TrainingExample(f"made up {number}", (0,), out_of_domain=True, synthetic=True) for number in range(5)]
    told = count_kinds([*OWN, *FOREIGN, *made_up, TrainingExample("against", (0,), written_negative_rows=(1,))])
    assert told == {"learnt": 56, "foreign": 10, "made_up": 5, "with_written_negatives": 1}


def test_equal_requests_of_a_list_are_told_apart() -> None:
    learnt, judged = split_examples([TrainingExample("the same", (0,)) for _ in range(8)], 0.25)
    assert (len(learnt), len(judged)) == (6, 2)


def test_the_same_requests_are_held_out_each_time() -> None:
    assert split_examples(OWN, 0.25) == split_examples(OWN, 0.25)


def test_each_fold_holds_out_others_and_together_they_hold_out_all() -> None:
    held = [split_examples([*OWN, *FOREIGN], 0.3, fold)[1] for fold in range(4)]
    assert [len(judged) for judged in held] == [12, 12, 12, 4]
    assert {one.request for judged in held for one in judged} == {one.request for one in OWN}
    assert held[0] == split_examples(OWN, 0.3)[1]
    with pytest.raises(UsageError, match="no fold 4"):
        split_examples([*OWN, *FOREIGN], 0.3, 4)


def test_rows_do_not_depend_on_the_order_of_documents() -> None:
    assert build_corpus(reversed(DOCUMENTS)) == catalogue()


def test_an_api_in_two_categories_and_spellings_is_one_name() -> None:
    corpus = build_corpus(
        [document("Sky Watch", "getRain", category="a"), document("sky_watch", "get rain", category="b")]
    )
    assert corpus.names[0] == corpus.names[1]
    assert list(corpus.rows_by_name.values()) == [[0, 1]]
    assert list(corpus.rows_by_toolset.values()) == [[0, 1]]


def test_the_fingerprint_names_what_is_learnt_from() -> None:
    corpus = catalogue()
    rain = TrainingExample("will it rain", (row(corpus, "sky", "rain"),))
    known = compute_fingerprint(corpus, [rain])
    assert known == compute_fingerprint(catalogue(), [rain])
    others = [
        compute_fingerprint(build_corpus(DOCUMENTS[1:]), [rain]),
        compute_fingerprint(corpus, [rain, rain]),
        compute_fingerprint(corpus, [TrainingExample("will it rain", (row(corpus, "sky", "wind"),))]),
        compute_fingerprint(corpus, [TrainingExample("will it rain", rain.positive_rows, written_negative_rows=(3,))]),
    ]
    assert len({known, *others}) == 5
