"""Writes HDF5 files without libhdf5.

Golden stores need files whose bytes depend on nothing but their content: not on the version of libhdf5, nor on what it
found in memory. The part of the format they use is small: superblock 2, version-2 object headers, compact groups,
contiguous datasets and single filtered chunks. All of it is defined in the HDF5 File Format Specification, version 3.0
(https://docs.hdfgroup.org/hdf5/v1_14/_s_p_e_c.html), and read by every libhdf5 since 1.10.

It is also small in the file (an object costs about 100 bytes instead of 270), and a full disk is an ``OSError`` like
any other: libhdf5 2.0 can crash the process when it closes a file that it could not flush.
"""

from harness.store.h5write.file import Dataset, FileWriter, Group

__all__ = ["Dataset", "FileWriter", "Group"]
