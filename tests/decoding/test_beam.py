"""Beam search against exhaustive search, a search written with lists, and itself."""

import itertools
import math

import pytest
import torch
from torch import Tensor

from reweigh.decoding.beam import END, START, Beam, _top, search, translate
from reweigh.decoding.prefixes import CachedPrefixes, RecomputedPrefixes
from reweigh.errors import UsageError
from reweigh.models.transformer import Transformer

V = 7
WORDS = (3, 4, 5, 6)  # besides </s>: neither padding nor <s> is ever said


class Toy:
    """A language of five words, `</s>` among them, whose next word depends on the two before it."""

    def __init__(self, seed: int, n: int = 1) -> None:
        draw = torch.Generator().manual_seed(seed)
        self.table = 2 * torch.randn(n, V, V, V, generator=draw)
        self.rows, self.before, self.words = torch.arange(n), torch.zeros(n, 1).long(), None

    def advance(self, words: Tensor) -> Tensor:
        self.before = torch.zeros_like(words) if self.words is None else self.words
        self.words = words
        return self.table[self.rows[:, None], self.before, words]

    def select(self, rows: Tensor, parents: Tensor) -> None:
        assert self.words is not None
        self.rows, self.words = self.rows[rows], self.words[rows[:, None], parents]

    def log_p(self, before: int, word: int) -> list[float]:
        return self.table[0, before, word].log_softmax(0).tolist()


def everything(toy: Toy, longest: int, alpha: float) -> tuple[float, list[int]]:
    """The best of all translations of up to `longest` words, `</s>` included."""
    found = []
    for length in range(longest):
        for words in itertools.product(WORDS, repeat=length):
            total, before, word = 0.0, 0, START
            for following in (*words, END):
                total += toy.log_p(before, word)[following]
                before, word = word, following
            found.append((total / (length + 1) ** alpha, list(words)))
    return max(found)


def by_lists(toy: Toy, longest: int, how: Beam) -> tuple[float, list[int]]:
    """The same search as plainly as it can be said."""
    live, ended = [(0.0, [START])], []
    for length in range(1, longest + 1):
        grown = []
        for total, words in live:
            before = words[-2] if len(words) > 1 else 0
            log_p = toy.log_p(before, words[-1])
            allowed = (END,) if length == longest else (END, *WORDS)
            grown += [(total + log_p[word], [*words, word]) for word in allowed]
        grown.sort(key=lambda one: -one[0])
        ended += [
            (total / length**how.length_penalty, words[1:-1])
            for total, words in grown[: how.beam]
            if words[-1] == END
        ]
        live = [one for one in grown if one[1][-1] != END][: how.beam]
        if len(ended) >= how.beam:
            break
    return max(ended)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0, 1.5, -0.5])
@pytest.mark.parametrize("seed", range(8))
def test_a_wide_beam_finds_what_exhaustive_search_finds(seed: int, alpha: float) -> None:
    found = search(Toy(seed), torch.tensor([4]), Beam(128, alpha))[0]
    score, words = everything(Toy(seed), 4, alpha)
    assert found.words == words
    assert found.score == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize("beam", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(8))
def test_a_narrow_beam_finds_what_lists_find(seed: int, beam: int) -> None:
    """Stopping early, when nothing better is possible, changes no answer."""
    found = search(Toy(seed), torch.tensor([7]), Beam(beam, 1.0))[0]
    score, words = by_lists(Toy(seed), 7, Beam(beam, 1.0))
    assert found.words == words
    assert found.score == pytest.approx(score, abs=1e-5)


def small(seed: int = 0) -> Transformer:
    torch.manual_seed(seed)
    model = Transformer(30, width=16, inner=24, heads=2, layers=(2, 2), dropout=0.3).double()
    with torch.no_grad():
        model.embedding.weight.mul_(3)  # far from uniform, so that words end at different times
    return model


def sources(n: int = 7) -> Tensor:
    torch.manual_seed(1)
    source = torch.randint(3, 30, (n, 9))
    for row, length in enumerate(torch.randint(1, 9, (n,)).tolist()):
        source[row, length], source[row, length + 1 :] = END, 0
    return source


def test_cached_equals_recomputed() -> None:
    model, source = small().eval(), sources()
    how = Beam(4, 0.8)
    with torch.no_grad():
        prefixes = CachedPrefixes(model, source), RecomputedPrefixes(model, source)
        cached, whole = (search(one, how.limits(source), how) for one in prefixes)
    assert [one.words for one in cached] == [one.words for one in whole]
    assert len({len(one.words) for one in cached}) > 1


@torch.no_grad()
def test_every_part_is_left_in_the_mode_that_it_was_in() -> None:
    model = small().train()
    model.embedding.eval()  # frozen by its user
    modes = [part.training for part in model.modules()]
    translate(model, sources(2))
    assert [part.training for part in model.modules()] == modes


def test_cached_logits_equal_those_of_training() -> None:
    model, source = small().eval(), sources(3)
    target = torch.randint(3, 30, (3, 6))
    cached = CachedPrefixes(model, source)
    logits = torch.cat([cached.advance(word[:, None]) for word in target.T], 1)
    whole = model({"source": source, "target_in": target})
    assert torch.allclose(logits, whole, rtol=1e-12, atol=1e-12)


@torch.no_grad()
def test_beams_are_reordered_and_sentences_leave() -> None:
    model, source = small().eval(), sources(3)
    both = CachedPrefixes(model, source), RecomputedPrefixes(model, source)
    rows, parents = torch.tensor([2, 0]), torch.tensor([[1, 1, 0], [0, 1, 1]])
    for one in both:
        one.advance(torch.ones(3, 1).long())
        one.select(torch.arange(3), torch.zeros(3, 2).long())
        one.advance(torch.tensor([[5, 6], [7, 8], [9, 10]]))
        one.select(rows, parents)
    last = torch.tensor([[11, 12, 13], [14, 15, 16]])
    cached, whole = (one.advance(last) for one in both)
    assert torch.allclose(cached, whole, rtol=1e-12, atol=1e-12)


def test_many_at_once_equal_one_by_one() -> None:
    model, source = small(), sources()
    together = translate(model, source)
    for row, one in enumerate(together):
        alone = translate(model, source[row : row + 1, : int((source[row] != 0).sum())])[0]
        assert alone.words == one.words
        assert alone.score == pytest.approx(one.score, abs=1e-5)


def test_no_translation_is_longer_than_allowed() -> None:
    model, source = small(), sources()
    with torch.no_grad():
        model.embedding.weight[END] = 0  # it hardly ever ends by itself
    how = Beam(3, 1.0, (0.5, 2))
    limits = how.limits(source)
    assert all(
        len(one.words) < limit
        for one, limit in zip(translate(model, source, how), limits.tolist(), strict=True)
    )


def test_translating_leaves_the_mode_and_draws_nothing() -> None:
    model, source = small().train(), sources()
    before = torch.get_rng_state()
    assert translate(model, source) == translate(model, source)
    assert model.training
    assert torch.equal(torch.get_rng_state(), before)


def test_a_model_of_nan_ends_too() -> None:
    model = small()
    with torch.no_grad():
        model.embedding.weight.fill_(math.nan)
    assert all(one.score == -math.inf for one in translate(model, sources()))


def test_no_sentence_gives_no_translation() -> None:
    assert search(Toy(0, 0), torch.zeros(0).long(), Beam()) == []


def test_equal_scores_go_to_the_first_place() -> None:
    scores = torch.zeros(2, 5000)
    scores[0, 4000:4003] = 1
    value, place = _top(scores, 4)
    assert place.tolist() == [[4000, 4001, 4002, 0], [0, 1, 2, 3]]
    assert value.tolist() == [[1, 1, 1, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize("wrong", [{"beam": 0}, {"longest": (1.0, 0)}, {"longest": (-1.0, 5)}])
def test_impossible_settings_are_refused(wrong: dict) -> None:
    with pytest.raises(UsageError):
        Beam(**wrong)
