from pathlib import Path

import pytest
from tests.text.bleu_corpora import corpora

from reweigh.errors import DataError
from reweigh.text.bleu import bleu, detokenised_bleu, tokenised_bleu

PERL = Path(__file__).with_name("multi_bleu.txt").read_text(encoding="utf-8").split()


def test_the_tokenised_score_is_that_of_multi_bleu():
    ours = [f"{tokenised_bleu(h, r):.2f}" for h, r in corpora()]
    assert len(ours) == len(PERL) == 220
    assert ours == PERL


def test_the_fixtures_can_tell_a_wrong_score():
    assert len(set(PERL)) > 150
    plain = [f"{detokenised_bleu(h, r)[0]:.2f}" for h, r in corpora()]
    assert sum(a == b for a, b in zip(plain, PERL, strict=True)) < 80


def test_both_scores_with_their_signature():
    words, sentences = ["das &apos;s ja ein kleiner hund ."], ["das's ja ein kleiner hund."]
    same = bleu(words, words, sentences, ["Das's ja ein kleiner Hund."], lowercase=True)
    assert same.tokenised == same.detokenised == pytest.approx(100)
    assert "case:lc" in same.signature
    assert "tok:13a" in same.signature
    assert same.signature.startswith("nrefs:1|")


def test_nothing_in_common_is_zero():
    assert tokenised_bleu(["a b c d e"], ["v w x y z"]) == 0
    assert tokenised_bleu([""], ["v w x y z"]) == 0
    assert tokenised_bleu(["a b"], ["a b"]) == 0  # no 4-gram, no smoothing


@pytest.mark.parametrize(("h", "r"), [([], []), (["a"], ["a", "b"])])
def test_what_cannot_be_scored_is_refused(h, r):
    with pytest.raises(DataError, match="cannot be scored"):
        tokenised_bleu(h, r)
