"""What a device is: capabilities, numerics, storage formats."""

from harness.devices.device import DEVICES, Device
from harness.devices.kernels import Kernels

__all__ = ["DEVICES", "Device", "Kernels"]
