from reweigh.comparing.written_tables import comma_separated


def test_numbers_stay_as_they_are_and_texts_are_no_formulas() -> None:
    rows = [
        {"method": "=1+1", "mean": 1 / 3, "std": None},
        {"method": "a,b", "mean": 2, "std": 0.5},
    ]
    assert comma_separated(rows) == ('method,mean,std\n\'=1+1,0.3333333333333333,\n"a,b",2,0.5')
