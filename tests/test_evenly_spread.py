from reweigh.evenly_spread import evenly_spread


def test_the_ends_are_among_few_and_all_are_taken_where_there_are_no_more() -> None:
    assert evenly_spread(9, 3).tolist() == [0, 4, 8]
    assert evenly_spread(3, 9).tolist() == [0, 1, 2]
    assert evenly_spread(0, 9).tolist() == []
