"""Who is to be cited for what a report shows, as BibTeX."""

from collections.abc import Iterable

_CONFIDENT = """@article{northcutt2021confident,
  title   = {Confident Learning: Estimating Uncertainty in Dataset Labels},
  author  = {Northcutt, Curtis G. and Jiang, Lu and Chuang, Isaac L.},
  journal = {Journal of Artificial Intelligence Research},
  volume  = {70},
  year    = {2021}
}"""

_METHODS = {
    "deep": """@inproceedings{fan2021deepinteractions,
  title     = {Learning to Reweight with Deep Interactions},
  author    = {Fan, Yang and Xia, Yingce and Wu, Lijun and Xie, Shufang and Liu, Weiqing and Bian, Jiang and Qin, Tao and Li, Xiang-Yang},
  booktitle = {Proceedings of the AAAI Conference on Artificial Intelligence},
  year      = {2021}
}""",  # noqa: E501 (one author list, one line, as in CITATION.bib)
    "focal": """@inproceedings{lin2017focal,
  title     = {Focal Loss for Dense Object Detection},
  author    = {Lin, Tsung-Yi and Goyal, Priya and Girshick, Ross and He, Kaiming and Doll{\\'a}r, Piotr},
  booktitle = {IEEE International Conference on Computer Vision},
  year      = {2017}
}""",
    "class-balanced": """@inproceedings{cui2019classbalanced,
  title     = {Class-Balanced Loss Based on Effective Number of Samples},
  author    = {Cui, Yin and Jia, Menglin and Lin, Tsung-Yi and Song, Yang and Belongie, Serge},
  booktitle = {IEEE Conference on Computer Vision and Pattern Recognition},
  year      = {2019}
}""",
    "self-paced": """@inproceedings{kumar2010selfpaced,
  title     = {Self-Paced Learning for Latent Variable Models},
  author    = {Kumar, M. Pawan and Packer, Benjamin and Koller, Daphne},
  booktitle = {Advances in Neural Information Processing Systems},
  year      = {2010}
}""",
    "l2t-data": """@inproceedings{fan2018teach,
  title     = {Learning to Teach},
  author    = {Fan, Yang and Tian, Fei and Qin, Tao and Li, Xiang-Yang and Liu, Tie-Yan},
  booktitle = {International Conference on Learning Representations},
  year      = {2018}
}""",
    "l2t-loss": """@inproceedings{wu2018loss,
  title     = {Learning to Teach with Dynamic Loss Functions},
  author    = {Wu, Lijun and Tian, Fei and Xia, Yingce and Fan, Yang and Qin, Tao and Lai, Jianhuang and Liu, Tie-Yan},
  booktitle = {Advances in Neural Information Processing Systems},
  year      = {2018}
}""",  # noqa: E501 (one author list, one line)
    "mentornet": """@inproceedings{jiang2018mentornet,
  title     = {{MentorNet}: Learning Data-Driven Curriculum for Very Deep Neural Networks on Corrupted Labels},
  author    = {Jiang, Lu and Zhou, Zhengyuan and Leung, Thomas and Li, Li-Jia and Fei-Fei, Li},
  booktitle = {International Conference on Machine Learning},
  year      = {2018}
}""",  # noqa: E501 (one title, one line)
    "meta-weight-net": """@inproceedings{shu2019mwnet,
  title     = {{Meta-Weight-Net}: Learning an Explicit Mapping For Sample Weighting},
  author    = {Shu, Jun and Xie, Qi and Yi, Lixuan and Zhao, Qian and Zhou, Sanping and Xu, Zongben and Meng, Deyu},
  booktitle = {Advances in Neural Information Processing Systems},
  year      = {2019}
}""",  # noqa: E501 (one author list, one line)
    "learning-to-reweight": """@inproceedings{ren2018reweight,
  title     = {Learning to Reweight Examples for Robust Deep Learning},
  author    = {Ren, Mengye and Zeng, Wenyuan and Yang, Bin and Urtasun, Raquel},
  booktitle = {International Conference on Machine Learning},
  year      = {2018}
}""",
    "gold-loss-correction": """@inproceedings{hendrycks2018glc,
  title     = {Using Trusted Data to Train Deep Networks on Labels Corrupted by Severe Noise},
  author    = {Hendrycks, Dan and Mazeika, Mantas and Wilson, Duncan and Gimpel, Kevin},
  booktitle = {Advances in Neural Information Processing Systems},
  year      = {2018}
}""",
}


def bibtex(methods: Iterable[str], confident: bool) -> str:
    """Entries of these methods, each once; controls have none. `confident`: and confident learning's.

    It counts wrong labels in an audit; of sentence pairs nobody counts wrong ones.
    """
    entries = [_METHODS[name] for name in dict.fromkeys(methods) if name in _METHODS]
    return "\n\n".join([*entries, *([_CONFIDENT] if confident else [])])
