"""What transforms of images give, case by case: ``vision_facts.py OUT`` writes digests and errors (JSON).

The same file runs under the real MindSpore and under ``msdump run``.
"""

import hashlib
import io
import itertools
import json
import random
import sys
import tempfile

import mindspore.dataset as ds
import numpy as np
from mindspore.dataset import transforms as T
from mindspore.dataset import vision as V
from mindspore.dataset.vision import Border, ConvertMode, Inter
from PIL import Image

RANDOM = np.random.RandomState(3)


def drawn_image(*shape, kind="uint8", most=256):
    if kind.startswith("float"):
        return (RANDOM.rand(*shape) * most).astype(kind)
    return RANDOM.randint(0, most, shape).astype(kind)


SLOPE = np.add.outer(np.add.outer(np.arange(40) * 3, np.arange(70) * 2), [0, 20, 50])
SLOPE = SLOPE + RANDOM.randint(0, 9, (40, 70, 3))
IMAGES = {
    "odd": drawn_image(13, 17, 3), "wide": np.clip(SLOPE, 0, 255).astype("uint8"), "grey": drawn_image(13, 17),
    "digit": drawn_image(28, 28, 1), "four": drawn_image(9, 11, 4), "two": drawn_image(5, 6, 2),
    "small": drawn_image(2, 3, 3), "flat": np.full((6, 5, 3), 77, "uint8"),
    "float": drawn_image(13, 17, 3, kind="float32"), "unit": drawn_image(11, 20, 3, kind="float32", most=1),
    "double": drawn_image(13, 17, 3, kind="float64"), "int16": drawn_image(13, 17, 3, kind="int16", most=9000),
    "uint16": drawn_image(13, 17, 3, kind="uint16", most=65536), "int32": drawn_image(7, 8, 3, kind="int32"),
    "row": drawn_image(9), "empty": np.zeros((0, 4, 3), "uint8"), "batch": drawn_image(2, 5, 6, 3),
}  # fmt: skip
PICTURES = {mode: Image.fromarray(IMAGES["wide"]).convert(mode) for mode in ("RGB", "L", "RGBA", "P")}
START, END = [[0, 0], [12, 0], [12, 10], [0, 10]], [[1, 2], [11, 0], [12, 9], [2, 10]]
#: for each transform, arguments
FIXED = {
    "AdjustBrightness": [(0,), (0.3,), (1.7,), (7,)], "AdjustContrast": [(0,), (0.3,), (1.7,), (7,)],
    "AdjustSaturation": [(0,), (0.3,), (1.7,), (7,)], "AdjustSharpness": [(0,), (0.3,), (1.7,), (7,)],
    "AdjustHue": [(-0.5,), (-0.2,), (0,), (0.37,)], "AdjustGamma": [(0.5,), (2.2, 3), (1.7, 0.6)],
    "AutoContrast": [(), (10, None), (3.7, [5, 10]), (49, 0)], "Equalize": [()], "Invert": [()],
    "Solarize": [(0,), (128.7,), ((30, 90),)], "Posterize": [(0,), (1,), (5,), (8,)],
    "ConvertColor": [(each,) for each in ConvertMode],
    "GaussianBlur": [(3,), (5, 1.0), ([3, 7], (0.5, 2)), (1,)],
    "Rotate": [(30, mode) for mode in Inter] + [
        (-17.5, Inter.LINEAR, True), (200, Inter.NEAREST, False, (3, 4.5), (1, 2, 3)), (90, Inter.NEAREST, True),
        (0, Inter.CUBIC, True, (1, 2), 9)],
    "Affine": [(30, (0.1, -0.2), 1.5, 10, mode) for mode in Inter] + [
        (-90, (0, 0), 0.7, (5, -12), Inter.LINEAR, (9, 8, 7))],
    "Perspective": [(START, END, mode) for mode in Inter],
    "ResizedCrop": [(1, 2, 5, 6, (7, 4)), (0, 0, 2, 3, 5, Inter.NEAREST), (0, 1, 2, 2, 4, Inter.CUBIC)],
    "PadToSize": [(50,), ((41, 73), (1, 2), (1, 2, 3)), ((41, 90), None, 7, Border.EDGE), (80, 0, 0, Border.SYMMETRIC)],
    "Erase": [(1, 2, 3, 4), (0, 0, 2, 2, (9, 8.7, 7)), (1, 1, 90, 2, 5)],
    "SlicePatches": [(), (2, 3), (2, 2, V.SliceMode.DROP), (3, 1, V.SliceMode.PAD, 9)],
    "FiveCrop": [(4,), ((5, 9),)], "TenCrop": [(4,), ((5, 9), True)], "Grayscale": [(), (3,)],
    "RgbToHsv": [(True,), ()], "HsvToRgb": [(True,), ()],
    "NormalizePad": [([125.3, 123.0, 113.9], [63.0, 62.1, 66.7]), ([1, 2, 3], [4, 5, 6], "float16"), ([1], [2])],
    "LinearTransformation": [(np.eye(663)[::-1] * 0.5, np.arange(663.0))], "ToPIL": [()], "ToNumpy": [()],
    "HorizontalFlip": [()], "VerticalFlip": [()], "Crop": [((1, 2), 4)], "HWC2CHW": [()], "ToTensor": [()],
    "Resize": [(9, mode) for mode in Inter] + [((7, 12), Inter.NEAREST)],
    "CenterCrop": [(8,), ((50, 30),)], "Pad": [((1, 2, 3, 4), (7, 8, 9), mode) for mode in Border],
}  # fmt: skip
DRAWN = {
    "RandomAdjustSharpness": [(1.5, 0.5)], "RandomAutoContrast": [(5, [1, 2], 0.4)], "RandomColor": [(), ((0.9, 1.1),)],
    "RandomColorAdjust": [(0.4, 0.3, (0.5, 1.5), 0.1), (0.2,), ((1, 1), (0.5, 0.6))], "RandomEqualize": [(0.4,)],
    "RandomInvert": [()], "RandomLighting": [(), (8.0,)], "RandomPosterize": [(), ((1, 8),), (4,)],
    "RandomSharpness": [(), ((0.2, 0.2),)], "RandomSolarize": [(), ((100, 180),)], "RandomResize": [(9,), ((7, 20),)],
    "RandomRotation": [(40,), ((10, 50), Inter.LINEAR, True), (720, Inter.CUBIC, False, (2, 3), (1, 2, 3))],
    "RandomAffine": [(30,), ((10, 20), (-0.1, 0.1, 0, 0), (0.8, 1.2), 10, Inter.LINEAR, 9),
                     (0, (-0.1, 0.1, -0.2, 0.2), None, (0, 10, 5, 8))],
    "CutOut": [(4,), (2, 3)], "RandomGrayscale": [(0.5,)], "RandomPerspective": [(0.5, 0.7), (0.3, 1.0, Inter.NEAREST)],
    "RandomErasing": [(), (0.9, (0.1, 0.2), (0.5, 2.0), (1, 2, 3)), (1.0, (0.02, 0.3), (0.3, 3.0), "random")],
    "RandomHorizontalFlip": [()], "RandomVerticalFlip": [(0.3,)], "RandomCrop": [(8,), ((20, 90), (1, 2), True, 5)],
    "RandomResizedCrop": [(9,), ((7, 8), (0.9, 1.0), (1.5, 3.0), Inter.NEAREST, 2)],
    "AutoAugment": [(each,) for each in V.AutoAugmentPolicy] + [(V.AutoAugmentPolicy.SVHN, Inter.LINEAR, (1, 2, 3))],
    "RandAugment": [(), (3, 4, 10, Inter.LINEAR)], "TrivialAugmentWide": [(), (10, Inter.LINEAR, 7)],
    "UniformAugment": [([V.HorizontalFlip(), V.Invert(), V.RandomColor(), V.Equalize(), V.VerticalFlip()], 3)],
    "RandomSelectSubpolicy": [([[(V.HorizontalFlip(), 0.5), (V.RandomRotation(45), 1)], [(V.Invert(), 0.2)]],)],
}  # fmt: skip
#: what is given in place of each argument
WRONG = (None, True, -1, 0, 3, 300, 20000000, 0.5, -0.5, "x", (), (1,), (2, 1), (1, 2), (1, 2, 3), [1, 2], [3, 1],
         (0.5, 7.5), [], (1, "a"), ("a", "b"), {}, np.zeros(3), (-1, 2), [(1, 2)], Inter.LINEAR)  # fmt: skip
RIGHT = {
    "AdjustBrightness": (1,), "AdjustContrast": (1,), "AdjustSaturation": (1,), "AdjustSharpness": (1,),
    "AdjustHue": (0,), "AdjustGamma": (1, 1), "AutoContrast": (1, None), "Solarize": (3,), "Posterize": (3,),
    "ConvertColor": (ConvertMode(4),),
    "GaussianBlur": (3, 1), "Rotate": (3, Inter.LINEAR, True, None, 0), "Affine": (3, (0, 0), 1, 2, Inter.LINEAR, 0),
    "Perspective": (START, END, Inter.LINEAR), "ResizedCrop": (1, 1, 2, 2, 3, Inter.LINEAR),
    "PadToSize": (40, 0, 0, Border.CONSTANT), "Erase": (1, 1, 2, 2, 0, False),
    "SlicePatches": (1, 2, V.SliceMode.PAD, 0),
    "FiveCrop": (3,), "TenCrop": (3, False), "Grayscale": (1,), "RgbToHsv": (True,), "HsvToRgb": (True,),
    "NormalizePad": ([1, 2, 3], [4, 5, 6], "float32", True), "LinearTransformation": (np.eye(3), np.zeros(3)),
    "RandomAdjustSharpness": (1, 0.5), "RandomAutoContrast": (1, None, 0.5), "RandomColor": ((0.1, 1),),
    "RandomColorAdjust": (0.1, 0.1, 0.1, 0.1), "RandomEqualize": (0.5,), "RandomInvert": (0.5,),
    "RandomLighting": (0.1,),
    "RandomPosterize": ((1, 2),), "RandomSharpness": ((0.1, 1),), "RandomSolarize": ((1, 2),), "RandomResize": (9,),
    "RandomRotation": (3, Inter.LINEAR, False, None, 0), "RandomAffine": (3, (0, 0, 0, 0), (1, 2), 1, Inter.LINEAR, 0),
    "CutOut": (3, 1, True), "RandomGrayscale": (0.5,), "RandomPerspective": (0.5, 0.5, Inter.LINEAR),
    "RandomErasing": (0.5, (0.1, 0.2), (1, 2), 0, False, 3),
    "AutoAugment": (V.AutoAugmentPolicy.SVHN, Inter.NEAREST, 0),
    "RandAugment": (1, 1, 3, Inter.NEAREST, 0), "TrivialAugmentWide": (3, Inter.NEAREST, 0),
    "UniformAugment": ([V.Invert()], 1), "RandomSelectSubpolicy": ([[(V.Invert(), 1)]],), "MixUp": (2, 1, True),
    "MixUpBatch": (1,), "CutMixBatch": (V.ImageBatchFormat.NHWC, 1, 0.5), "Resize": (9, Inter.LINEAR),
    "CenterCrop": (3,),
    "Pad": (1, 0, Border.CONSTANT), "RandomCrop": (3, 1, False, 0, Border.CONSTANT), "RandomHorizontalFlip": (0.5,),
    "RandomResizedCrop": (3, (0.5, 1), (1, 2), Inter.LINEAR, 3), "Crop": ((1, 1), 2), "Decode": (False,),
}  # fmt: skip
LETTERS = {TypeError: "T", ValueError: "V", RuntimeError: "R", AttributeError: "A", KeyError: "K"}


def letter(error):
    return next((LETTERS[kind] for kind in type(error).__mro__ if kind in LETTERS), "O")


def shown(found):
    """A digest of mode, dtype, shape and values of an array, a picture, or several."""
    parts = found if isinstance(found, tuple) else (found,)
    digest = hashlib.sha256()
    for part in parts:
        array = np.asarray(part)
        digest.update(f"{getattr(part, 'mode', '')} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:8]


def outcome(call):
    ds.config.set_seed(11)
    random.seed(5)
    np.random.seed(6)
    try:
        with np.errstate(all="ignore"):
            return shown(call())
    except Exception as error:
        return letter(error)


def several(call, times=6):
    """One digest of a call made several times."""
    made = [shown(call()) for _ in range(times)]
    return np.frombuffer(" ".join(made).encode(), np.uint8)


def fixed():
    for name, forms in FIXED.items():
        for at, form in enumerate(forms):
            for key, image in {**IMAGES, **PICTURES}.items():
                yield f"{name} {at} {key}", lambda n=name, f=form, i=image: getattr(V, n)(*f)(i.copy())


def piped(operations, image, workers=2, rows=8):
    data = ds.GeneratorDataset([(image,) for _ in range(rows)], ["image"], shuffle=False)
    made = data.map(operations, "image", num_parallel_workers=workers)
    return tuple(row[0] for row in made.create_tuple_iterator(num_epochs=1, output_numpy=True))


#: Python draws for these, and two threads draw in any order
OF_PYTHON = ("RandomErasing", "RandomGrayscale", "RandomPerspective")


def several_rows(operations):
    """One digest of the rows of a pipeline."""
    workers = 1 if type(operations[0]).__name__ in OF_PYTHON else 2
    return np.frombuffer(" ".join(map(shown, piped(operations, IMAGES["wide"], workers))).encode(), np.uint8)


def drawn():
    for name, forms in DRAWN.items():
        for at, form in enumerate(forms):
            for key in ("odd", "wide", "grey", "digit", "float", "uint16", "batch", "RGB", "L"):
                image = {**IMAGES, **PICTURES}[key]
                yield f"{name} {at} {key}", lambda n=name, f=form, i=image: several(lambda: getattr(V, n)(*f)(i.copy()))
            yield f"{name} {at} in a pipeline", lambda n=name, f=form: several_rows([getattr(V, n)(*f)])


def batches():
    images, labels = drawn_image(4, 9, 8, 3), np.eye(5, dtype="int32")[[1, 0, 4, 2]]
    turned = np.ascontiguousarray(images.transpose(0, 3, 1, 2))
    for alpha in (1.0, 0.2, 3):
        for key, given in {"bytes": images, "floats": images.astype("float32"), "channels first": turned}.items():
            yield f"MixUpBatch {alpha} {key}", lambda a=alpha, g=given: V.MixUpBatch(a)(g.copy(), labels)
            for kind in V.ImageBatchFormat:
                cut = V.CutMixBatch(kind, alpha, 0.7)
                yield f"CutMixBatch {alpha} {kind.name} {key}", lambda c=cut, g=given: c(g.copy(), labels)
        for single in (True, False):
            yield f"MixUp {alpha} {single}", lambda a=alpha, s=single: V.MixUp(4, a, s)(images, labels)
    for key, given in {"floats": labels.astype("float32"), "one": labels[:2], "row": labels[:, 0]}.items():
        yield f"MixUpBatch labels {key}", lambda g=given: V.MixUpBatch()(images, g)
        yield f"CutMixBatch labels {key}", lambda g=given: V.CutMixBatch(V.ImageBatchFormat.NHWC)(images, g)
    yield "MixUpBatch unsigned", lambda: V.MixUpBatch()(images, labels.astype("uint8"))
    yield "MixUpBatch rows", lambda: V.MixUpBatch()(images, np.stack([labels, labels], 1))


def pipelines():
    wide, odd = IMAGES["wide"], IMAGES["odd"]
    chains = {
        "arrays": [V.Resize(20), V.RandomRotation(30), V.AdjustHue(0.1), V.HWC2CHW()],
        "pictures": [V.ToPIL(), V.Grayscale(3), V.AdjustContrast(1.5), V.Resize(20), V.ToTensor()],
        "picture and array": [V.ToPIL(), V.HorizontalFlip(), V.AdjustBrightness(1.3), V.GaussianBlur(3)],
        "ends as a picture": [V.ToPIL(), V.CenterCrop(8)],
        "composed": [T.Compose([V.ToPIL(), V.Equalize(), V.ToNumpy(), V.Solarize(100)])],
        "function": [lambda image: image[::2], V.Invert(), lambda image: image / 2, V.Rescale(0.5, 1.0)],
        "wrong kind": [V.RgbToHsv(True), V.ToTensor(), V.Equalize()],
        "wrong shape": [V.HWC2CHW(), V.AdjustContrast(2.0)],
        "wrong picture": [V.Grayscale()], "five": [V.ToPIL(), V.FiveCrop(8), lambda *images: np.stack(images)],
        "choice": [T.RandomChoice([V.Invert(), V.Equalize(), V.Posterize(3)])],
        "apply": [T.RandomApply([V.Invert(), V.Rotate(30)], 0.6)],
    }  # fmt: skip
    for key, operations in chains.items():
        yield f"pipeline {key}", lambda o=operations: piped(o, wide, 1, 3)
    columns = lambda: ds.NumpySlicesDataset({"a": [odd, odd + 1], "b": [1, 2]}, shuffle=False)  # noqa: E731
    yield (
        "pipeline two columns",
        lambda: tuple(
            row["a"] for row in columns().map([V.Invert()], ["a"], ["a"]).create_dict_iterator(1, output_numpy=True)
        ),
    )
    yield (
        "pipeline another name",
        lambda: tuple(
            row["c"] for row in columns().map(V.Posterize(2), ["a"], ["c"]).create_dict_iterator(1, output_numpy=True)
        ),
    )

    def labelled():
        given = ds.NumpySlicesDataset({"image": [odd] * 4, "label": [0, 1, 2, 1]}, shuffle=False)
        return given.map(T.OneHot(3), "label").batch(2)

    for operation in (V.MixUpBatch(1.0), V.CutMixBatch(V.ImageBatchFormat.NHWC, 1.0, 1.0)):
        yield (
            f"pipeline {type(operation).__name__}",
            lambda o=operation: tuple(
                each
                for row in labelled()
                .map(o, ["image", "label"], num_parallel_workers=1)
                .create_tuple_iterator(num_epochs=1, output_numpy=True)
                for each in row
            ),
        )


def files():
    for key, image in {**IMAGES, **PICTURES}.items():
        yield f"size of {key}", lambda i=image: np.array(V.get_image_size(i))
        yield f"channels of {key}", lambda i=image: np.array(V.get_image_num_channels(i))
    with tempfile.TemporaryDirectory() as folder:
        yield from written(folder)
    yield "size of a list", lambda: np.array(V.get_image_size([1]))
    yield "no file", lambda: V.read_file("away")
    yield "no name", lambda: V.read_file(3)
    yield "no image", lambda: V.read_image("away.png")
    yield "no mode", lambda: V.read_image("away.png", 1)


def written(folder):
    """Files of pictures: JPEG files by their bytes, PNG files by the picture in them."""
    for (key, image), level in itertools.product(IMAGES.items(), (1, 6, 75, 300)):
        yield f"encode jpeg_{level}_{key}", lambda i=image, q=level: V.encode_jpeg(i.copy(), q)
        yield (
            f"encode png_{level}_{key}",
            lambda i=image, q=level: np.asarray(Image.open(io.BytesIO(V.encode_png(i.copy(), q).tobytes()))),
        )
    for mode, kind in itertools.product(("RGB", "L", "RGBA", "P", "1"), ("png", "bmp")):
        path = f"{folder}/{mode}.{kind}"
        PICTURES["RGB"].convert(mode).save(path)
        for way in V.ImageReadMode:
            yield f"read {mode}_{kind}_{way.name}", lambda p=path, w=way: V.read_image(p, w)
    V.write_png(f"{folder}/again.png", IMAGES["odd"])
    V.write_jpeg(f"{folder}/again.jpg", IMAGES["odd"], 50)
    V.write_file(f"{folder}/bytes", IMAGES["row"])
    yield "read again", lambda: V.read_image(f"{folder}/again.png")
    yield "read jpeg_bytes", lambda: V.read_file(f"{folder}/again.jpg")
    yield "read bytes", lambda: V.read_file(f"{folder}/bytes")


def refused(name, form, at, value):
    """How a transform with one argument replaced fails, when made (T) or when used (t)."""
    given = [*form[:at], value, *form[at + 1 :]]
    try:
        made = getattr(V, name)(*given)
    except Exception as error:
        return letter(error)
    if (isinstance(value, int) and value > 1000) or "Mix" in name or name == "Decode":
        return "-"
    picture = name in ("FiveCrop", "TenCrop", "Grayscale", "RandomGrayscale", "RandomPerspective")
    image = PICTURES["RGB"] if picture else IMAGES["odd"][:1, :1] if name == "LinearTransformation" else IMAGES["odd"]
    try:
        with np.errstate(all="ignore"):
            made(image.copy())
    except Exception as error:
        return letter(error).lower()
    return "-"


def mistakes():
    for name, form in RIGHT.items():
        for at in range(len(form)):
            yield f"wrong {name} {at}", "".join(refused(name, form, at, value) for value in WRONG)


def gathered():
    """All outcomes: those of one transform's form together, each as ``case outcome``."""
    made = {}
    for name, call in itertools.chain(fixed(), drawn(), batches(), pipelines(), files()):
        *group, case = name.split(" ", 2)
        made.setdefault(" ".join(group), {})[case] = outcome(call)
    return made


if __name__ == "__main__":
    ds.config.set_num_parallel_workers(1)
    facts = gathered() | dict(mistakes())
    rows = ",\n".join(f"{json.dumps(key)}: {json.dumps(each)}" for key, each in facts.items())
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("{\n" + rows + "\n}\n")
