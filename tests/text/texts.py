"""Small invented texts in two languages that translate word by word."""

import random

NOUNS = [("hund", "dog"), ("katze", "cat"), ("mann", "man"), ("vogel", "bird"), ("baum", "tree")]
VERBS = [("sieht", "sees"), ("sucht", "seeks"), ("mag", "likes"), ("ruft", "calls")]


def sentences(number, seed=0):
    """`number` different pairs: (German, English)."""
    rng = random.Random(seed)
    pairs = {}
    while len(pairs) < number:
        words = [rng.choice(NOUNS), rng.choice(VERBS), rng.choice(NOUNS)]
        words += [(f"und{rng.randint(0, 99)}", f"and{rng.randint(0, 9)}"), rng.choice(NOUNS)]
        german, english = (" ".join(word[side] for word in words) + "." for side in (0, 1))
        pairs[german.capitalize()] = english.capitalize()
    return list(pairs.items())


def write_folder(folder, **parts):
    """`train=pairs` and so on as two files each."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, pairs in parts.items():
        for side, language in enumerate(("de", "en")):
            text = "".join(pair[side] + "\n" for pair in pairs)
            (folder / f"{name}.{language}").write_text(text, encoding="utf-8")
    return folder
