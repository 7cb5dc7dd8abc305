# Written by `python -m tests.stubs`.
from typing import Any
from harness.framework.nn.initializer import Zero as Zero
from harness.framework.ops.primitive import Primitive as Primitive
from harness.framework.ops.primitives.drawing import ListDiff as ListDiff
from harness.framework.ops.primitives.elementwise import Mvlgamma as Mvlgamma
from harness.framework.ops.primitives.elementwise import PopulationCount as PopulationCount
from harness.framework.ops.primitives.indexing import Eye as Eye
from harness.framework.ops.primitives.indexing import Fill as Fill
from harness.framework.ops.primitives.indexing import FillV2 as FillV2
from harness.framework.ops.primitives.indexing import Gather as Gather
from harness.framework.ops.primitives.indexing import Ones as Ones
from harness.framework.ops.primitives.indexing import OnesLike as OnesLike
from harness.framework.ops.primitives.indexing import Range as Range
from harness.framework.ops.primitives.indexing import ScatterNd as ScatterNd
from harness.framework.ops.primitives.indexing import TensorScatterElements as TensorScatterElements
from harness.framework.ops.primitives.indexing import TensorScatterUpdate as TensorScatterUpdate
from harness.framework.ops.primitives.indexing import Tril as Tril
from harness.framework.ops.primitives.indexing import Triu as Triu
from harness.framework.ops.primitives.indexing import UnsortedSegmentSum as UnsortedSegmentSum
from harness.framework.ops.primitives.indexing import Zeros as Zeros
from harness.framework.ops.primitives.indexing import ZerosLike as ZerosLike
from harness.framework.ops.primitives.matrices import FillDiagonal as FillDiagonal
from harness.framework.ops.primitives.matrices import Lstsq as Lstsq
from harness.framework.ops.primitives.matrices import MatrixDiagPartV3 as MatrixDiagPartV3
from harness.framework.ops.primitives.matrices import MatrixDiagV3 as MatrixDiagV3
from harness.framework.ops.primitives.matrices import MatrixSetDiagV3 as MatrixSetDiagV3
from harness.framework.ops.primitives.models import DepthToSpace as DepthToSpace
from harness.framework.ops.primitives.models import DiagPart as DiagPart
from harness.framework.ops.primitives.models import EmbeddingLookup as EmbeddingLookup
from harness.framework.ops.primitives.models import MaskedSelect as MaskedSelect
from harness.framework.ops.primitives.models import Meshgrid as Meshgrid
from harness.framework.ops.primitives.models import ResizeNearestNeighbor as ResizeNearestNeighbor
from harness.framework.ops.primitives.models import ResizeNearestNeighborV2 as ResizeNearestNeighborV2
from harness.framework.ops.primitives.models import Rint as Rint
from harness.framework.ops.primitives.models import ScalarToTensor as ScalarToTensor
from harness.framework.ops.primitives.models import SpaceToDepth as SpaceToDepth
from harness.framework.ops.primitives.models import TupleToArray as TupleToArray
from harness.framework.ops.primitives.models import Unique as Unique
from harness.framework.ops.primitives.pictures import AffineGrid as AffineGrid
from harness.framework.ops.primitives.pictures import Col2Im as Col2Im
from harness.framework.ops.primitives.pictures import Im2Col as Im2Col
from harness.framework.ops.primitives.pictures import SpaceToBatchND as SpaceToBatchND
from harness.framework.ops.primitives.reduction import ArgMaxWithValue as ArgMaxWithValue
from harness.framework.ops.primitives.reduction import ArgMinWithValue as ArgMinWithValue
from harness.framework.ops.primitives.reduction import Argmax as Argmax
from harness.framework.ops.primitives.reduction import Argmin as Argmin
from harness.framework.ops.primitives.reduction import CumProd as CumProd
from harness.framework.ops.primitives.reduction import CumSum as CumSum
from harness.framework.ops.primitives.reduction import Cummax as Cummax
from harness.framework.ops.primitives.reduction import Cummin as Cummin
from harness.framework.ops.primitives.reduction import NonZero as NonZero
from harness.framework.ops.primitives.reduction import Sort as Sort
from harness.framework.ops.primitives.reduction import TopK as TopK
from harness.framework.ops.primitives.reduction import UniqueConsecutive as UniqueConsecutive
from harness.framework.ops.primitives.scatter import ScatterAdd as ScatterAdd
from harness.framework.ops.primitives.scatter import ScatterDiv as ScatterDiv
from harness.framework.ops.primitives.scatter import ScatterMax as ScatterMax
from harness.framework.ops.primitives.scatter import ScatterMin as ScatterMin
from harness.framework.ops.primitives.scatter import ScatterMul as ScatterMul
from harness.framework.ops.primitives.scatter import ScatterNdAdd as ScatterNdAdd
from harness.framework.ops.primitives.scatter import ScatterNdDiv as ScatterNdDiv
from harness.framework.ops.primitives.scatter import ScatterNdMax as ScatterNdMax
from harness.framework.ops.primitives.scatter import ScatterNdMin as ScatterNdMin
from harness.framework.ops.primitives.scatter import ScatterNdMul as ScatterNdMul
from harness.framework.ops.primitives.scatter import ScatterNdSub as ScatterNdSub
from harness.framework.ops.primitives.scatter import ScatterNdUpdate as ScatterNdUpdate
from harness.framework.ops.primitives.scatter import ScatterSub as ScatterSub
from harness.framework.ops.primitives.scatter import ScatterUpdate as ScatterUpdate
from harness.framework.ops.primitives.search import SearchSorted as SearchSorted
from harness.framework.ops.primitives.shape import BroadcastTo as BroadcastTo
from harness.framework.ops.primitives.shape import Cast as Cast
from harness.framework.ops.primitives.shape import Concat as Concat
from harness.framework.ops.primitives.shape import DType as DType
from harness.framework.ops.primitives.shape import LogSpace as LogSpace
from harness.framework.ops.primitives.shape import Padding as Padding
from harness.framework.ops.primitives.shape import Rank as Rank
from harness.framework.ops.primitives.shape import Reshape as Reshape
from harness.framework.ops.primitives.shape import ReverseSequence as ReverseSequence
from harness.framework.ops.primitives.shape import ReverseV2 as ReverseV2
from harness.framework.ops.primitives.shape import Shape as Shape
from harness.framework.ops.primitives.shape import Size as Size
from harness.framework.ops.primitives.shape import Slice as Slice
from harness.framework.ops.primitives.shape import Split as Split
from harness.framework.ops.primitives.shape import Squeeze as Squeeze
from harness.framework.ops.primitives.shape import Stack as Stack
from harness.framework.ops.primitives.shape import StridedSlice as StridedSlice
from harness.framework.ops.primitives.shape import Tile as Tile
from harness.framework.ops.primitives.shape import Transpose as Transpose
from harness.framework.ops.primitives.shape import Unstack as Unstack
from harness.framework.ops.primitives.special import MatrixBandPart as MatrixBandPart
from harness.framework.ops.primitives.special import SegmentMax as SegmentMax
from harness.framework.ops.primitives.special import SegmentMin as SegmentMin
from harness.framework.ops.primitives.special import SegmentSum as SegmentSum
from harness.framework.ops.primitives.special import TensorScatterDiv as TensorScatterDiv
from harness.framework.ops.primitives.special import TensorScatterMax as TensorScatterMax
from harness.framework.ops.primitives.special import TensorScatterMin as TensorScatterMin
from harness.framework.ops.primitives.special import TensorScatterMul as TensorScatterMul
from harness.framework.ops.primitives.special import TensorScatterSub as TensorScatterSub
from harness.framework.ops.primitives.special import UnsortedSegmentMax as UnsortedSegmentMax
from harness.framework.ops.primitives.special import UnsortedSegmentMin as UnsortedSegmentMin
from harness.framework.ops.primitives.special import UnsortedSegmentProd as UnsortedSegmentProd
from harness.framework.tensor.tensor import Tensor as Tensor
class Diag:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
class ExpandDims:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
class GatherD:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
class GatherNd:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
class Identity:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
class LeftShift:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
class MaskedFill:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
class RightShift:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
class Select:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
class TensorScatterAdd:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
