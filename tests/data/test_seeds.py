from reweigh.data.seeds import generator


def test_streams_differ_by_seed_and_purpose_and_repeat():
    draws = {
        (seed, purpose): generator(seed, purpose).integers(2**60)
        for seed in range(3)
        for purpose in ("noise", "trusted split", "")
    }
    assert len(set(draws.values())) == 9
    assert generator(1, "noise").integers(2**60) == draws[1, "noise"]
