"""Transforms that choose among other ones, and the published augmentations made of them.

Source: of the policies, "AutoAugment" (Cubuk et al. 2019), "RandAugment" (Cubuk et al. 2020) and "TrivialAugment"
(Müller & Hutter 2021); what MindSpore 2.10.0 draws, and in which order, measured (``tests/interop/vision_facts.py``).
"""

from __future__ import annotations

import math
import random as _random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from harness.errors import SettingError, SettingTypeError, StateError
from harness.framework.dataset.random import Mersenne32, sampled
from harness.framework.dataset.transforms.base import RowFunction, Transform, generator, kernel
from harness.framework.dataset.transforms.compound import transforms_of
from harness.framework.dataset.vision import colours as c
from harness.framework.dataset.vision.arguments import LARGEST_REAL, integer
from harness.framework.dataset.vision.arithmetic import Array
from harness.framework.dataset.vision.base import DrawnImage
from harness.framework.dataset.vision.moving import sheared, turned
from harness.framework.dataset.vision.policies import POLICIES
from harness.framework.dataset.vision.utils import AutoAugmentPolicy, Inter, coloured, filling, is_picture
from harness.framework.dataset.vision.utils import interpolation as interpolation_of
from harness.framework.dataset.vision.values import inverted

_F32 = np.float32


class UniformAugment(Transform):
    """``num_ops`` of the transforms, each made or left out as chance has it."""

    def __init__(self, transforms: Any, num_ops: int = 2) -> None:
        self.num_ops = integer(num_ops, "num_ops", self.name, 1, 2**31 - 1)
        if hasattr(transforms, "__len__") and num_ops > len(transforms):
            raise SettingError(f"UniformAugment: num_ops is {num_ops}, and there are {len(transforms)} transforms")
        self.transforms = transforms_of(transforms, self.name)

    def _input(self, value: Any) -> Any:
        return value

    def build(self, seed: int, worker: int = 0) -> RowFunction:
        random, steps = generator(seed, worker), [kernel(each, seed) for each in self.transforms]

        def run(value: Any) -> Any:
            if is_picture(value):
                return self._of_picture(value, steps)
            for step in sampled(steps, self.num_ops, random):
                value = value if random.below(2) else step(value)
            return value

        return run

    def _of_picture(self, picture: Any, steps: Sequence[RowFunction]) -> Any:
        for at in np.random.choice(len(steps), size=self.num_ops, replace=False):
            bound = _random.random()
            picture = steps[at](picture.copy()) if _random.random() < bound else picture
        return picture


class RandomSelectSubpolicy(Transform):
    """One list of ``policy``; each (transform, probability) of it is made or left out, one after the other."""

    def __init__(self, policy: Any) -> None:
        if not isinstance(policy, list):
            raise SettingTypeError(f"RandomSelectSubpolicy: policy must be a list, got {policy!r}")
        if not policy:
            raise SettingError("RandomSelectSubpolicy: policy must not be empty")
        for part in policy:
            self._check(part)
        self.policy = policy

    def _check(self, part: Any) -> None:
        if not isinstance(part, list):
            raise SettingTypeError(f"RandomSelectSubpolicy: policy must be lists, got {part!r}")
        if not part:
            raise SettingError("RandomSelectSubpolicy: a list of policy must not be empty")
        for pair in part:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise SettingError(f"RandomSelectSubpolicy: (transform, probability) is needed, got {pair!r}")
            if not isinstance(pair[0], Transform):
                raise SettingTypeError(f"RandomSelectSubpolicy: a transform is needed, got {pair[0]!r}")
            if not isinstance(pair[1], (int, float)):
                raise SettingTypeError(f"RandomSelectSubpolicy: a probability is needed, got {pair[1]!r}")
            if not 0 <= pair[1] <= 1:
                raise SettingError(f"RandomSelectSubpolicy: a probability must be in [0, 1], got {pair[1]!r}")

    def _input(self, value: Any) -> Any:
        return value

    def build(self, seed: int, worker: int = 0) -> RowFunction:
        random = generator(seed, worker)
        policy = [[(kernel(each, seed), prob) for each, prob in part] for part in self.policy]

        def run(value: Any) -> Any:
            value = np.asarray(value)  # of a picture, too
            for step, prob in policy[random.below(len(policy))]:
                value = step(value) if random.real() <= prob else value
            return value

        return run


def _steps(least: float, most: float, count: int) -> Array:
    """``count`` float32 from ``least`` to ``most``."""
    step = _F32((_F32(most) - _F32(least)) / _F32(count - 1))
    return np.asarray(_F32(least) + np.arange(count).astype(_F32) * step, _F32)


def _bits(count: int, most: float) -> Array:
    """Numbers of bits, from 8 down by ``most``."""
    share = _F32(-most) / _F32(count - 1)
    return np.asarray(np.rint(_steps(0, count - 1, count) * share + _F32(8)))


class _Augment(DrawnImage):
    """Changes by name, as strong as a magnitude says."""

    interpolation: Inter
    fill_value: tuple[int, int, int]

    def _look(self, interpolation: Any, fill_value: Any) -> None:
        self.interpolation = interpolation_of(interpolation, self.name)
        self.fill_value = filling(fill_value, self.name)

    def _space(self, count: int, size: Sequence[int], shear: float, moves: Sequence[float], turn: float, colour: float,
               bits: float, bright: float) -> dict[str, Array]:  # fmt: skip
        """Magnitudes by name, in the order of names; those that may be negated are ``_SIGNED``."""
        space = {name: _steps(0, colour, count) for name in ("Brightness", "Color", "Contrast", "Sharpness")}
        space |= {name: _steps(0, shear, count) for name in ("ShearX", "ShearY")}
        space |= {"TranslateX": _steps(0, moves[0], count), "TranslateY": _steps(0, moves[1], count)}
        space |= {"Rotate": _steps(0, turn, count), "Posterize": _bits(count, bits)}
        space |= {"Solarize": _steps(bright, 0, count)}
        space |= {name: np.zeros(1, _F32) for name in ("AutoContrast", "Equalize", "Identity")}
        return dict(sorted(space.items()))

    def _apply(self, array: Any, name: str, magnitude: Any) -> Any:
        magnitude = float(magnitude)
        red, green, blue = self.fill_value
        swapped = (red, blue, green)  # measured: as ``Rotate`` takes them
        changes: dict[str, Callable[[], Any]] = {
            "Brightness": lambda: c.brightened(array, float(_F32(1) + _F32(magnitude)), self.name),
            "Color": lambda: c.saturated(array, float(_F32(1) + _F32(magnitude)), self.name),
            "Contrast": lambda: c.contrasted(array, float(_F32(1) + _F32(magnitude)), self.name),
            "Sharpness": lambda: c.blended(array, float(_F32(1) + _F32(magnitude)), self.name),
            "Posterize": lambda: c.posterized(array, int(magnitude), self.name),
            "Solarize": lambda: c.solarized(array, magnitude, magnitude, self.name),
            "AutoContrast": lambda: c.stretched(array, 0, [], self.name),
            "Equalize": lambda: c.equalized(array, self.name),
            "Invert": lambda: inverted(array, self.name),
            "Identity": lambda: array,
            "Rotate": lambda: turned(array, magnitude, self.interpolation, False, None, swapped, self.name),
        }
        if name in changes:
            return changes[name]()
        along = name.endswith("X")
        size = array.shape[1] if along else array.shape[0]
        # Measured: whole pixels, times the size; anything but 0 moves all of the image out.
        value = math.trunc(magnitude) * size if name.startswith("Translate") else float(_F32(magnitude * 180 / math.pi))
        pair = (value, 0.0) if along else (0.0, value)
        move, shear = (pair, (0.0, 0.0)) if name.startswith("Translate") else ((0.0, 0.0), pair)
        return sheared(array, 0.0, move, 1.0, shear, self.interpolation, self.fill_value, self.name)


_SIGNED = ("Brightness", "Color", "Contrast", "Rotate", "Sharpness", "ShearX", "ShearY", "TranslateX", "TranslateY")


class AutoAugment(_Augment):
    """One pair of changes of a published policy, each with its probability."""

    def __init__(self, policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET, interpolation: Inter = Inter.NEAREST,
                 fill_value: Any = 0) -> None:  # fmt: skip
        if not isinstance(policy, AutoAugmentPolicy):
            raise SettingTypeError(f"AutoAugment: policy must be an AutoAugmentPolicy, got {policy!r}")
        self.policy = policy
        self._look(interpolation, fill_value)

    def draw(self, random: Mersenne32, array: Any) -> Any:
        coloured(array, self.name)
        policy = POLICIES[self.policy.value]
        chosen = policy[random.below(len(policy))]
        shares = [random.real32() for _ in range(2)]
        signs = [random.below(2) for _ in range(2)]
        moves = [float(_F32(_F32(150) / _F32(331)) * _F32(each)) for each in (array.shape[1], array.shape[0])]
        space = self._space(10, array.shape, 0.3, moves, 30, 0.9, 4, 256)
        for (name, prob, level), share, sign in zip(chosen, shares, signs, strict=True):
            if share <= _F32(prob):
                magnitude = _F32(0) if level < 0 else space[name][level]
                array = self._apply(array, name, -magnitude if name in _SIGNED and not sign else magnitude)
        return array


def _bytes(array: Any, owner: str) -> None:
    if coloured(array, owner).dtype != np.uint8:
        raise StateError(f"{owner}: an image of uint8 is needed, got {array.dtype}")


def _index(random: Mersenne32, count: int) -> int:
    """An int below ``count``, as MindSpore draws it: 0 is twice as likely as any other."""
    return random.below(count + 1) % count


class RandAugment(_Augment):
    """``num_ops`` changes, all as strong as ``magnitude`` of ``num_magnitude_bins`` says."""

    def __init__(self, num_ops: int = 2, magnitude: int = 9, num_magnitude_bins: int = 31,
                 interpolation: Inter = Inter.NEAREST, fill_value: Any = 0) -> None:  # fmt: skip
        self.num_ops = integer(num_ops, "num_ops", self.name, 0, LARGEST_REAL)
        self.num_magnitude_bins = integer(num_magnitude_bins, "num_magnitude_bins", self.name, 2, LARGEST_REAL)
        self.magnitude = integer(magnitude, "magnitude", self.name, 0, self.num_magnitude_bins - 1)
        self._look(interpolation, fill_value)

    def draw(self, random: Mersenne32, array: Any) -> Any:
        _bytes(array, self.name)
        moves = [float(_F32(_F32(150) / _F32(331)) * _F32(each)) for each in (array.shape[1], array.shape[0])]
        space = self._space(self.num_magnitude_bins, array.shape, 0.3, moves, 30, 0.9, 4, 255)
        names = list(space)
        for _ in range(self.num_ops):
            name = names[_index(random, len(names))]
            magnitude = space[name][self.magnitude] if len(space[name]) > 1 else _F32(0)
            negative = _index(random, 2) and name in _SIGNED
            array = self._apply(array, name, -magnitude if negative else magnitude)
        return array


class TrivialAugmentWide(_Augment):
    """One change, of any strength of ``num_magnitude_bins``."""

    def __init__(self, num_magnitude_bins: int = 31, interpolation: Inter = Inter.NEAREST, fill_value: Any = 0) -> None:
        self.num_magnitude_bins = integer(num_magnitude_bins, "num_magnitude_bins", self.name, 2, LARGEST_REAL)
        self._look(interpolation, fill_value)

    def draw(self, random: Mersenne32, array: Any) -> Any:
        _bytes(array, self.name)
        space = self._space(self.num_magnitude_bins, array.shape, 0.99, (32, 32), 135, 0.99, 6, 255)
        names = list(space)
        name = names[_index(random, len(names))]
        magnitude = space[name][_index(random, len(space[name]))] if len(space[name]) > 1 else _F32(0)
        negative = _index(random, 2) and name in _SIGNED
        return self._apply(array, name, -magnitude if negative else magnitude)
