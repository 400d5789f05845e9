from dataclasses import replace

import numpy as np
from tests.audit.made_up import audited

from reweigh.audit.run import Audit
from reweigh.report.class_charts import most_confused, noise_chart, weights_by_class
from reweigh.report.states import plane, states_by_class


def with_classes(K: int) -> Audit:
    """Every third label of each class is of the next; class 1 has most of these."""
    audit = audited(tuple(f"a class with a long name, {k}" for k in range(K)))
    labels = np.arange(300) % K
    labels[:30] = 1
    matrix = np.eye(K) * 2 / 3 + np.roll(np.eye(K), 1, axis=1) / 3
    return replace(audit, samples=replace(audit.samples, labels=labels), noise_matrix=matrix)


def test_few_classes_are_named_and_their_shares_written() -> None:
    (heat,) = noise_chart(with_classes(12)).data
    assert heat["x"][1] == "a class with…ong name, 1"
    assert heat["text"][0][:3] == ["67%", "33%", ""]
    assert heat["xgap"] == heat["ygap"] == 1
    assert most_confused(with_classes(12)) == []


def test_many_classes_are_numbered_and_named_where_pointed_at() -> None:
    audit = with_classes(60)
    chart = noise_chart(audit)
    (heat,) = chart.data
    assert heat["x"] == [str(k) for k in range(60)]
    assert heat["meta"][59] == "a class with…ng name, 59"
    assert heat["xgap"] == heat["ygap"] == 0  # cells of a few pixels would be all gaps
    assert "text" not in heat
    assert "by number" in chart.layout["xaxis"]["title"]["text"]
    assert chart.layout["height"] > noise_chart(with_classes(12)).layout["height"]
    boxes = weights_by_class(audit).data
    assert [box["x"] for box in boxes] == [[str(k)] for k in range(60)]
    assert boxes[59]["name"] == "a class with…ng name, 59"


def test_the_most_confused_of_many_classes_are_told_by_name() -> None:
    first, *more = most_confused(with_classes(60))
    assert len(more) == 9
    assert first["given"] == "1: a class with a long name, 1"
    assert first["suggested"] == "2: a class with a long name, 2"
    assert first["share"] == 1 / 3
    assert first["labels"] > max(row["labels"] for row in more)
    sure = replace(with_classes(60), noise_matrix=np.eye(60))
    assert most_confused(sure) == []


def test_many_classes_have_no_legend() -> None:
    for K, few in ((12, True), (13, False)):
        audit = with_classes(K)
        dots = states_by_class(audit, plane(audit, "pca")).data
        assert {one["showlegend"] for one in dots} == {few}
        assert len({one["name"] for one in dots}) == K
