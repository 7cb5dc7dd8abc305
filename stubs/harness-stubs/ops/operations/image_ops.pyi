# Written by `python -m tests.stubs`.
from typing import Any
from harness.framework.ops.primitive import Primitive as Primitive
from harness.framework.ops.primitives.drawing import RGBToHSV as RGBToHSV
from harness.framework.ops.primitives.drawing import ResizeBicubic as ResizeBicubic
from harness.framework.ops.primitives.models import CropAndResize as CropAndResize
from harness.framework.ops.primitives.models import ResizeBilinearV2 as ResizeBilinearV2
class HSVToRGB:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
