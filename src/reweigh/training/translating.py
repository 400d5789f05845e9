"""How well a student translates: its loss on held-out pairs, and BLEU of what it writes.

Of several processes each takes every n-th batch, and all get the whole answer.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from reweigh import signals
from reweigh.config.translation import TranslationTraining
from reweigh.decoding.beam import Beam, translate
from reweigh.distributed.group import gathered_objects, rank, world
from reweigh.models.transformer import PAD, Transformer
from reweigh.student.evaluating import evaluating
from reweigh.text.bleu import Bleu, bleu
from reweigh.text.codec import Codec
from reweigh.text.corpus import Corpus, HeldOut, Ragged
from reweigh.text.token_batches import in_order

Scores = dict[str, Bleu]

DECODED = 4096
"""Source tokens times beam of a batch that is translated, at least. However small the batches of
training are, small ones here only cost time: a third of it at 1,024."""


@torch.no_grad()
def held_out_loss(
    student: nn.Module, corpus: Corpus, max_tokens: int, device: torch.device
) -> tuple[float, float]:
    """−log p of a target token on average, and the share of tokens that are the likeliest."""
    sums = np.zeros(3)  # loss, right, tokens
    with evaluating(student):
        for positions in _own(in_order(corpus, max_tokens)):
            batch = corpus.batch(positions, device)
            logits, words = student(batch).flatten(0, 1), batch["target_out"].flatten()
            loss = F.cross_entropy(logits.float(), words, ignore_index=PAD, reduction="sum")
            right = ((logits.argmax(1) == words) & (words != PAD)).sum()
            sums += torch.stack([loss, right, (words != PAD).sum()]).tolist()
    loss, right, tokens = np.sum(gathered_objects(sums), axis=0).tolist()
    return loss / tokens, right / tokens


def score_tests(
    student: nn.Module,
    tests: Mapping[str, HeldOut],
    codec: Codec,
    t: TranslationTraining,
    device: torch.device,
) -> Scores:
    """Both BLEU scores on every test set, by beam search."""
    how, most = Beam(t.beam, t.length_penalty), max(t.max_tokens, DECODED)
    return {name: score(student, test, codec, how, most, device) for name, test in tests.items()}


def score(
    student: nn.Module,
    test: HeldOut,
    codec: Codec,
    how: Beam,
    max_tokens: int,
    device: torch.device,
) -> Bleu:
    """BLEU of the student's translations of one test set."""
    found = [codec.decode_words(n) for n in translations(student, test, how, max_tokens, device)]
    return bleu(
        [" ".join(words) for words in found],
        test.tokenised,
        [codec.form.sentence(words) for words in found],
        test.references,
        lowercase=codec.form.lowercase,
    )


def translations(
    student: nn.Module, corpus: Corpus, how: Beam, max_tokens: int, device: torch.device
) -> list[list[int]]:
    """The numbers of the best translation of each pair's source, in the order of the corpus."""
    assert isinstance(student, Transformer)
    own: dict[int, list[int]] = {}
    for positions in _own(in_order(corpus, max(1, max_tokens // how.beam))):
        source = corpus.batch(positions, device)["source"]
        for position, best in zip(positions.tolist(), translate(student, source, how), strict=True):
            own[position] = best.words
    found = {k: words for part in gathered_objects(own) for k, words in part.items()}
    return [found[k] for k in range(len(corpus))]


def _own(batches: Sequence[Tensor]) -> Iterator[Tensor]:
    """This process's batch of every round, if there is one; all processes check equally often."""
    for first in range(0, len(batches), world()):
        signals.check()
        yield from batches[first + rank() : first + rank() + 1]


def sources_alone(rows: Sequence[Sequence[int]]) -> Corpus:
    """Sentences to translate as a corpus whose targets are empty."""
    return Corpus(Ragged.of(rows), Ragged.of([[] for _ in rows]), np.arange(len(rows)))
