from reweigh.config.differences import differences, told_apart


def test_settings_are_told_apart_by_the_keys_in_which_they_differ() -> None:
    one = {"training": {"epochs": 3, "lr": 0.1}, "data": {"name": "digits"}}
    other = {"training": {"epochs": 5, "lr": 0.1}, "data": {"name": "digits", "labels": "x.csv"}}
    assert differences([one, other, one]) == [
        "epochs=3, no labels",
        "epochs=5, labels=x.csv",
        "epochs=3, no labels",
    ]
    assert differences([one, one]) == ["", ""]


def test_only_names_that_stand_for_several_settings_get_more_words() -> None:
    names = ["deep", "deep", "uniform", "deep"]
    settings = [{"every": 2}, {"every": 5}, {}, {"every": 2}]
    told = ["deep (every=2)", "deep (every=5)", "uniform", "deep (every=2)"]
    assert told_apart(names, settings) == told
