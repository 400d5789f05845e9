"""An audit of sentence pairs that no run was needed for."""

import numpy as np

from reweigh.audit.pairs import PairAudit
from reweigh.text.bpe import Bpe
from reweigh.text.codec import Codec, TextForm
from reweigh.text.corpus import Corpus, Ragged
from reweigh.text.noise import MaskNoise, plant
from reweigh.text.pairs import Pairs
from reweigh.text.vocabulary import Vocabulary


def audited_pairs(n: int = 400, planted: bool = True, weighed: bool = True) -> PairAudit:
    """Pairs with hostile words of which every second one is masked, and witnesses that are mostly right."""
    text = Pairs(
        [f"@peter kauft <b>Haus</b> {k}." for k in range(n)],
        [f"@peter buys a <b>house</b> {k}." for k in range(n)],
        np.arange(n) * 2,
    )
    form, rng = TextForm(), np.random.default_rng(0)
    clean = form.source_words(text.source), form.target_words(text.target)
    *sides, changed = plant(*clean, MaskNoise(0.5 if planted else 0.0, 0.5), seed=0)
    pieces = [piece for side in clean for words in side for piece in Bpe([]).split(words)]
    codec = Codec(form, [], Vocabulary.of(pieces))
    source, target = (Ragged.of([codec.encode_words(words) for words in side]) for side in sides)
    weight = np.abs(np.where(changed, 0.3, 1.7) + rng.normal(scale=0.4, size=n))
    return PairAudit(
        corpus=Corpus(source, target, text.ids),
        codec=codec,
        text=text,
        weight=(weight if weighed else np.full(n, np.nan)).astype(np.float32),
        loss=np.where(changed, 4, 1).astype(np.float32),
        quality=np.clip(weight / 4, 0, 1).astype(np.float32),
        changed=changed if planted else None,
    )
