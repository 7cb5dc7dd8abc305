"""The policies of AutoAugment: pairs of (name, probability, level; -1: none).

Source: "AutoAugment: Learning Augmentation Policies from Data" (Cubuk et al. 2019), its tables, as MindSpore has them.
"""

from __future__ import annotations

Step = tuple[str, float, int]


def _read(text: str) -> list[tuple[Step, Step]]:
    """Lines of two steps, each a name, a probability in tenths, and a level."""
    made = []
    for line in text.split("\n"):
        words = line.split()
        if words:
            one, two = ((words[at], int(words[at + 1]) / 10, int(words[at + 2])) for at in (0, 3))
            made.append((one, two))
    return made


POLICIES = {
    "imagenet": _read("""
Posterize 4 8 Rotate 6 9
Solarize 6 5 AutoContrast 6 -1
Equalize 8 -1 Equalize 6 -1
Posterize 6 7 Posterize 6 6
Equalize 4 -1 Solarize 2 4
Equalize 4 -1 Rotate 8 8
Solarize 6 3 Equalize 6 -1
Posterize 8 5 Equalize 10 -1
Rotate 2 3 Solarize 6 8
Equalize 6 -1 Posterize 4 6
Rotate 8 8 Color 4 0
Rotate 4 9 Equalize 6 -1
Equalize 0 -1 Equalize 8 -1
Invert 6 -1 Equalize 10 -1
Color 6 4 Contrast 10 8
Rotate 8 8 Color 10 2
Color 8 8 Solarize 8 7
Sharpness 4 7 Invert 6 -1
ShearX 6 5 Equalize 10 -1
Color 4 0 Equalize 6 -1
Equalize 4 -1 Solarize 2 4
Solarize 6 5 AutoContrast 6 -1
Invert 6 -1 Equalize 10 -1
Color 6 4 Contrast 10 8
Equalize 8 -1 Equalize 6 -1
"""),
    "cifar10": _read("""
Invert 1 -1 Contrast 2 6
Rotate 7 2 TranslateX 3 9
Sharpness 8 1 Sharpness 9 3
ShearY 5 8 TranslateY 7 9
AutoContrast 5 -1 Equalize 9 -1
ShearY 2 7 Posterize 3 7
Color 4 3 Brightness 6 7
Sharpness 3 9 Brightness 7 9
Equalize 6 -1 Equalize 5 -1
Contrast 6 7 Sharpness 6 5
Color 7 7 TranslateX 5 8
Equalize 3 -1 AutoContrast 4 -1
TranslateY 4 3 Sharpness 2 6
Brightness 9 6 Color 2 8
Solarize 5 2 Invert 0 -1
Equalize 2 -1 AutoContrast 6 -1
Equalize 2 -1 Equalize 6 -1
Color 9 9 Equalize 6 -1
AutoContrast 8 -1 Solarize 2 8
Brightness 1 3 Color 7 0
Solarize 4 5 AutoContrast 9 -1
TranslateY 9 9 TranslateY 7 9
AutoContrast 9 -1 Solarize 8 3
Equalize 8 -1 Invert 1 -1
TranslateY 7 9 AutoContrast 9 -1
"""),
    "svhn": _read("""
ShearX 9 4 Invert 2 -1
ShearY 9 8 Invert 7 -1
Equalize 6 -1 Solarize 6 6
Invert 9 -1 Equalize 6 -1
Equalize 6 -1 Rotate 9 3
ShearX 9 4 AutoContrast 8 -1
ShearY 9 8 Invert 4 -1
ShearY 9 5 Solarize 2 6
Invert 9 -1 AutoContrast 8 -1
Equalize 6 -1 Rotate 9 3
ShearX 9 4 Solarize 3 3
ShearY 8 8 Invert 7 -1
Equalize 9 -1 TranslateY 6 6
Invert 9 -1 Equalize 6 -1
Contrast 3 3 Rotate 8 4
Invert 8 -1 TranslateY 0 2
ShearY 7 6 Solarize 4 8
Invert 6 -1 Rotate 8 4
ShearY 3 7 TranslateX 9 3
ShearX 1 6 Invert 6 -1
Solarize 7 2 TranslateY 6 7
ShearY 8 4 Invert 8 -1
ShearX 7 9 TranslateY 8 3
ShearY 8 5 AutoContrast 7 -1
ShearX 7 2 Invert 1 -1
"""),
}
