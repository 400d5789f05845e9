"""The measurement of cached decoding, made tiny."""

import pytest
import torch

from reweigh.bench import decode, translation
from reweigh.decoding.beam import search
from reweigh.models.transformer import PRESETS, Transformer


def test_all_ways_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = {"width": 8, "inner": 8, "heads": 2, "layers": (1, 1)}
    monkeypatch.setitem(PRESETS, "transformer-small", tiny)
    monkeypatch.setattr(translation, "VOCABULARY", 50)
    rows = list(decode.measure(["transformer-small"], [4, 6], rounds=1))
    assert [row["words"] for row in rows] == [4, 6]
    assert all(row["times_whole_model"] > 0 and row["times_decoder"] > 0 for row in rows)
    assert decode.table(rows).row_count == 2


def test_all_ways_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    model = Transformer(50, width=8, inner=8, heads=2, layers=(1, 1)).double().eval()
    monkeypatch.setattr(translation, "VOCABULARY", 50)
    source = translation.sentence_pairs(0, pairs=5, words=6)["source"]
    limits = decode.HOW.limits(source)
    found = [search(way(model, source), limits, decode.HOW) for way in decode.WAYS]
    words = [[one.words for one in of_way] for of_way in found]
    assert words[0] == words[1] == words[2]
