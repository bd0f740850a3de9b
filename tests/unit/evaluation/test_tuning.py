from domain.tool import ToolDoc, make_tool_id
from domain.trajectory import RecordedOutcome, Trajectory, TrajectoryCall
from evaluation.api_names import normalize_api_name
from evaluation.queries import RetrievalQuery
from evaluation.tuning import ONE, SEVERAL, collect_labelled_queries, compute_objective
from graph.function_names import NameIndex, build_function_name


def document(toolset: str, api: str) -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("c", toolset, api),
        category="c",
        toolset=toolset,
        api=api,
        function=build_function_name(api, toolset),
    )


NAMES = NameIndex([document("sky", "rain"), document("sky", "wind"), document("bank", "rates")])


def trajectory(query: str, *functions: str, failed: str = "", finish: str = "give_answer") -> Trajectory:
    calls = tuple(
        TrajectoryCall(name, RecordedOutcome.FAILED if name == failed else RecordedOutcome.OK) for name in functions
    )
    return Trajectory("id", "source", query, finish, calls, calls)  # type: ignore[arg-type]


def test_labels_are_the_apis_of_accepted_paths() -> None:
    found = collect_labelled_queries(
        [
            trajectory("will it rain", "rain_for_sky", "nonsense", "rates_for_bank", failed="rates_for_bank"),
            trajectory(" will it rain ", "wind_for_sky"),
            trajectory("money and rain for all", "rain_for_sky", "rates_for_bank"),
            trajectory("given up", "rain_for_sky", finish="give_up"),
            trajectory("nothing known", "nonsense"),
        ],
        NAMES,
        [],
    )
    assert {query.query: (query.split, query.relevant) for query in found} == {
        "will it rain": (ONE, frozenset({normalize_api_name("sky", "rain"), normalize_api_name("sky", "wind")})),
        "money and rain for all": (
            SEVERAL,
            frozenset({normalize_api_name("sky", "rain"), normalize_api_name("bank", "rates")}),
        ),
    }


def test_requests_near_measured_ones_are_left_out() -> None:
    measured = [
        RetrievalQuery("G1_tool", "Will it RAIN in Rome today?", frozenset({normalize_api_name("sky", "rain")}))
    ]
    paths = [trajectory("will it rain in Oslo today", "rain_for_sky"), trajectory("wind please", "wind_for_sky")]
    assert [query.query for query in collect_labelled_queries(paths, NAMES, measured)] == ["wind please"]


def test_samples_repeat() -> None:
    paths = [trajectory(f"request {n}", "rain_for_sky") for n in range(30)]
    one = collect_labelled_queries(paths, NAMES, [], sample=5)
    assert len(one) == 5
    assert one == collect_labelled_queries(reversed(paths), NAMES, [], sample=5)
    assert one != collect_labelled_queries(paths, NAMES, [], sample=5, seed=8)


def test_objective_weighs_splits_alike() -> None:
    assert compute_objective({"a": {"ndcg@5": 0.2}, "b": {"ndcg@5": 0.6}}) == 0.4
