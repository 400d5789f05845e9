import pytest

from reweigh.errors import UsageError
from reweigh.text.tokenise import detokenise, refuse_tokenised, tokenise


# What Moses' tokenizer.perl answers; the last dot is where sacremoses alone differs.
@pytest.mark.parametrize(
    ("language", "line", "words"),
    [
        ("en", "So am I.", "So am I ."),
        ("en", "Mr. Smith paid $5,300.50, didn't he?",
         "Mr. Smith paid $ 5,300.50 , didn &apos;t he ?"),
        ("en", 'He said "no"... at 5 p.m.', "He said &quot; no &quot; ... at 5 p.m ."),
        ("en", "Fish & chips [hot] | <b>", "Fish &amp; chips &#91; hot &#93; &#124; &lt; b &gt;"),
        ("de", "Das kostet z.B. 3,5 Mio. Euro usw.", "Das kostet z.B. 3,5 Mio. Euro usw ."),
        ("de", "Zwei\u00a0Männer  gehen's an.", "Zwei Männer gehen &apos; s an ."),
        ("de", "Wirklich...", "Wirklich ..."),
    ],
)  # fmt: skip
def test_words_are_those_of_moses(language, line, words):
    assert tokenise([line], language, lowercase=False) == [words.split(" ")]
    assert tokenise([line], language) == [words.lower().split(" ")]


def test_tokenised_text_is_cut_at_blanks_only():
    assert tokenise(["don &apos;t  Mr. X."], "en", tokenised=True) == [
        ["don", "&apos;t", "mr.", "x."]
    ]
    refuse_tokenised(["plain"] * 100 + ["&quot;"], "text")
    with pytest.raises(UsageError, match=r"2 of 4 lines of text hold .*tokenised = true"):
        refuse_tokenised(["it &apos;s", "&quot;", "a", "b"], "text")


@pytest.mark.parametrize("line", ["It's \"fine\", isn't it?", "A man (old) sees 5,300 dogs."])
def test_sentences_come_back(line):
    assert detokenise(tokenise([line], "en", lowercase=False)[0], "en") == line
