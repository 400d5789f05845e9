"""Random corpora whose scores by multi-bleu.perl are kept in multi_bleu.txt, one a line.

200 of plain words, then 20 with blanks of all kinds inside and between words. The script's answers
were produced with these very corpora; they depend on nothing but Python's `random`.
"""

import random

BLANKS = ("\u00a0", "\u2009", "\u3000", "\u2028", "\u0085", "\x1c", "\u202f")


def corpora():
    """Pairs of hypothesis lines and reference lines."""
    rng = random.Random(2021)
    for number in range(220):
        yield _corpus(rng, exotic=number >= 200)


def _corpus(rng, exotic):
    words = [f"w{k}" for k in range(rng.randint(3, 200))] + ["&apos;s", "ü", "."]
    if exotic:
        words += [f"a{blank}b" for blank in BLANKS]
    references = [_sentence(rng, words) for _ in range(rng.randint(1, 12))]
    damage = rng.random() * 0.6
    hypotheses = [_damaged(rng, reference, words, damage) for reference in references]
    blanks = [" ", "  ", "\t"] if exotic else [" "]
    return _lines(rng, hypotheses, blanks), _lines(rng, references, blanks)


def _sentence(rng, words):
    return [rng.choice(words) for _ in range(rng.randint(1, 30))]


def _damaged(rng, sentence, words, rate):
    out = []
    for word in sentence:
        kind = rng.random() / rate if rate else 9
        if kind > 1:
            out.append(word)
        elif kind > 0.4:
            out.append(rng.choice(words))
        elif kind > 0.2:
            out.extend([word, rng.choice(words)])
    return out or ["w0"]


def _lines(rng, sentences, blanks):
    return ["".join(word + rng.choice(blanks) for word in s).rstrip(" \t") for s in sentences]
