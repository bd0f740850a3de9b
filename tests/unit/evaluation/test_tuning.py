from domain.tool import ToolDoc, tool_id
from domain.trajectory import Call, Outcome, Trajectory
from evaluation.api_keys import key
from evaluation.queries import Query
from evaluation.tuning import ONE, SEVERAL, labelled_requests, objective
from graph.function_names import NameIndex, function_name


def document(toolset: str, api: str) -> ToolDoc:
    return ToolDoc(
        id=tool_id("c", toolset, api), category="c", toolset=toolset, api=api, function=function_name(api, toolset)
    )


NAMES = NameIndex([document("sky", "rain"), document("sky", "wind"), document("bank", "rates")])


def trajectory(query: str, *functions: str, failed: str = "", finish: str = "give_answer") -> Trajectory:
    calls = tuple(Call(name, Outcome.FAILED if name == failed else Outcome.OK) for name in functions)
    return Trajectory("id", "source", query, finish, calls, calls)  # type: ignore[arg-type]


def test_labels_are_the_apis_of_accepted_paths() -> None:
    found = labelled_requests(
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
        "will it rain": (ONE, frozenset({key("sky", "rain"), key("sky", "wind")})),
        "money and rain for all": (SEVERAL, frozenset({key("sky", "rain"), key("bank", "rates")})),
    }


def test_requests_near_measured_ones_are_left_out() -> None:
    measured = [Query("G1_tool", "Will it RAIN in Rome today?", frozenset({key("sky", "rain")}))]
    paths = [trajectory("will it rain in Oslo today", "rain_for_sky"), trajectory("wind please", "wind_for_sky")]
    assert [query.query for query in labelled_requests(paths, NAMES, measured)] == ["wind please"]


def test_samples_repeat() -> None:
    paths = [trajectory(f"request {n}", "rain_for_sky") for n in range(30)]
    one = labelled_requests(paths, NAMES, [], sample=5)
    assert len(one) == 5
    assert one == labelled_requests(reversed(paths), NAMES, [], sample=5)
    assert one != labelled_requests(paths, NAMES, [], sample=5, seed=8)


def test_objective_weighs_splits_alike() -> None:
    assert objective({"a": {"ndcg@5": 0.2}, "b": {"ndcg@5": 0.6}}) == 0.4
