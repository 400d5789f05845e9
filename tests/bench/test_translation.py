"""The measurement of training a translator, made tiny."""

import pytest

from reweigh.bench import translation
from reweigh.models.transformer import PRESETS


def test_three_ways_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = {"width": 8, "inner": 8, "heads": 2, "layers": (1, 1)}
    monkeypatch.setitem(PRESETS, "transformer-small", tiny)
    monkeypatch.setattr(translation, "VOCABULARY", 50)
    rows = list(translation.measure(["transformer-small"], rounds=1))
    assert [row["training"] for row in rows] == [
        "plain PyTorch",
        "uniform weights",
        "teacher, K=20, B=2",
    ]
    assert rows[0]["of_plain"] == 1
    assert all(row["tokens_per_second"] > 0 for row in rows)
    assert translation.table(rows).row_count == 3


def test_pairs_are_padded_at_the_end() -> None:
    pairs = translation.sentence_pairs(0, pairs=10, words=8)
    assert pairs["source"].shape == pairs["target_out"].shape == (10, 8)
    assert (pairs["source"][:2, 5:] == 0).all()
    assert (pairs["target_in"][-2:, 5:] == 0).all()
    assert (pairs["target_out"][:, 0] > 0).all()
