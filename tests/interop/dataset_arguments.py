"""What kinds and which numbers MindSpore's transforms of datasets take, and how they say so: writes
``harness/framework/dataset/transforms/arguments.json``.

``REAL tests/interop/dataset_arguments.py`` with a Python that has MindSpore. Each argument of each transform is given a
text, an object, and numbers that no interval holds; the errors name the kinds and the interval.
"""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

import mindspore
import numpy as np
from mindspore.dataset import audio, text, transforms, vision

PLACE = Path(__file__).parents[2] / "harness/framework/dataset/transforms/arguments.json"
_CORNERS = [[0, 0], [1, 0], [1, 1], [0, 1]]
_ONE = [transforms.Fill(1)]
#: a value for each argument that must be given
GIVEN: dict[str, Any] = {
    "degrees": 10, "size": (4, 4), "translate": (0.1, 0.1), "shear": (1.0, 1.0), "coordinates": (0, 0), "bits": 3,
    "mean": [1.0, 2.0, 3.0], "std": [1.0, 2.0, 3.0], "shift": 0.0, "threshold": (0, 10), "top": 0, "left": 0,
    "image_batch_format": vision.ImageBatchFormat.NHWC, "convert_mode": vision.ConvertMode.COLOR_BGR2RGB,
    "startpoints": _CORNERS, "endpoints": _CORNERS, "start_points": _CORNERS, "end_points": _CORNERS,
    "transformation_matrix": np.eye(4), "mean_vector": np.ones(4), "hue_factor": 0.1, "value": 0, "length": 1,
    "policy": [[(vision.RandomRotation((45, 45)), 0.5)]], "sample_rate": 44100, "cutoff_freq": 1000.0,
    "central_freq": 1000.0, "center_freq": 1000.0, "a_coeffs": [1.0, 2.0], "b_coeffs": [1.0, 2.0], "n_fft": 4,
    "num_classes": 3, "operator": transforms.Relational.EQ, "pad_shape": [3], "transforms": _ONE, "transform": _ONE[0],
    "data_type": mindspore.int32, "vocab": text.Vocab.from_list(["a"]), "token": "a", "begin": True,
    "tokenizer": str.split, "slices": 1, "pattern": "a", "replace": "b", "delim_pattern": "a", "n_stft": 4,
    "phase_advance": np.ones((3, 1), np.float32), "n_steps": 2, "max_length": 3, "max_seq_len": 3, "num_ops": 1,
    "height": 2, "width": 2, "batch_size": 2, "kernel_size": 3, "padding": 1, "mask_start": 0, "mask_width": 1,
    "axis": 1,
}  # fmt: skip
_HUGE = 10**12
_KINDS = re.compile(r"Argument (.*?) with value .* is not of type (\[.*\]), but got ", re.DOTALL)
_INTERVAL = re.compile(r"Input (\S* ?)is not within the required interval of ([\[(])(\S+), (\S+?)([\])])(?: and .*)?\.")
#: their bounds hang on other arguments
_HANGING = ("RandAugment.magnitude",)


def told(cls: Any, given: dict[str, Any]) -> str:
    """The text of the error, "" without one."""
    try:
        cls(**given)
    except Exception as error:
        return str(error)
    return ""


def row_of(cls: Any, given: dict[str, Any], name: str) -> dict[str, Any]:
    """What is known of one argument."""
    row: dict[str, Any] = {}
    for other in ("x", object(), 1.5):
        if not row and (kinds := _KINDS.match(told(cls, {**given, name: other}))):
            row["kinds"] = kinds[2]
            if kinds[1] != name:
                row["kinds of"] = kinds[1]
            if not told(cls, {**given, name: None}):
                row["none"] = True
    for kind in (int, float):
        low, high = (_INTERVAL.fullmatch(told(cls, {**given, name: kind(number)})) for number in (-_HUGE, _HUGE))
        # A volume's gain has bounds as an amplitude alone.
        if (
            cls is not audio.Vol
            and low is not None
            and high is not None
            and low.group() == high.group()
            and "interval" not in row
        ):
            row["interval"] = low.group()
    return row


def main() -> None:
    """Asks, and writes."""
    table: dict[str, dict[str, Any]] = {}
    for space in (audio, text, transforms, vision):
        for cls in (getattr(space, name) for name in sorted(dir(space)) if name[0].isupper()):
            if not inspect.isclass(cls) or not inspect.isfunction(cls.__init__):
                continue
            parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
            given = {each.name: GIVEN.get(each.name, 1.0) for each in parameters if each.default is each.empty}
            if any(each.kind is not each.POSITIONAL_OR_KEYWORD for each in parameters) or told(cls, given):
                continue
            names = [each.name for each in parameters if f"{cls.__name__}.{each.name}" not in _HANGING]
            rows = {name: row_of(cls, given, name) for name in names}
            if rows := {name: row for name, row in rows.items() if row}:
                table[f"{space.__name__.rpartition('.')[2]}.{cls.__name__}"] = rows
    lines = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in table.items()]
    PLACE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
