# Written by `python -m tests.stubs`.
from typing import Any
from harness.framework.numpy.fft import fft as fft
from harness.framework.numpy.fft import fft2 as fft2
from harness.framework.numpy.fft import fftn as fftn
from harness.framework.numpy.fft import fftshift as fftshift
from harness.framework.numpy.fft import hfft as hfft
from harness.framework.numpy.fft import hfft2 as hfft2
from harness.framework.numpy.fft import hfftn as hfftn
from harness.framework.numpy.fft import ifft as ifft
from harness.framework.numpy.fft import ifft2 as ifft2
from harness.framework.numpy.fft import ifftn as ifftn
from harness.framework.numpy.fft import ifftshift as ifftshift
from harness.framework.numpy.fft import ihfft as ihfft
from harness.framework.numpy.fft import ihfft2 as ihfft2
from harness.framework.numpy.fft import ihfftn as ihfftn
from harness.framework.numpy.fft import irfft as irfft
from harness.framework.numpy.fft import irfft2 as irfft2
from harness.framework.numpy.fft import irfftn as irfftn
from harness.framework.numpy.fft import rfft as rfft
from harness.framework.numpy.fft import rfft2 as rfft2
from harness.framework.numpy.fft import rfftn as rfftn
def fftfreq(n: Any, d: Any = ..., dtype: Any = ...) -> Any: ...
def rfftfreq(n: Any, d: Any = ..., dtype: Any = ...) -> Any: ...
