"""Hides what Python lacks on Windows: ``PYTHONPATH=tests/elsewhere``.

pytest and filelock are told that this is no POSIX system; libraries are loaded before, since they have ways of their
own there.
"""

# ruff: noqa: E401, F401, I001

import builtins, os, sys
import asyncio, multiprocessing, pathlib, platform, random, shutil, socket, subprocess, tempfile, threading
import _pytest.compat, _pytest.pathlib, _pytest.tmpdir, faulthandler, filelock, h5py, numpy.testing, platformdirs
import pydantic, pytest, regex, rich.console, typer, xxhash

GONE = (
    "O_CLOEXEC O_NOFOLLOW O_NONBLOCK O_DIRECTORY pread preadv pwrite fork register_at_fork getuid geteuid getgid "
    "sched_getaffinity killpg setsid fchmod fchown posix_fadvise posix_fallocate uname statvfs waitid fdatasync "
    "getloadavg sendfile memfd_create copy_file_range mkfifo"
)
for name in GONE.split():
    if hasattr(os, name):
        delattr(os, name)
for each in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
    each.clear()
filelock.FileLock = filelock.SoftFileLock
shutil._USE_CP_SENDFILE = False
_pytest.compat.get_user_id = _pytest.tmpdir.get_user_id = lambda: None
HIDDEN = {"fcntl", "resource", "pwd", "grp", "termios"}


class Hides:
    def find_spec(self, name, path=None, target=None):
        if name in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


for name in HIDDEN:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Hides())
opened = builtins.open


def open_but_proc(file, *given, **named):
    if isinstance(file, (str, os.PathLike)) and os.fspath(file).startswith("/proc"):
        raise FileNotFoundError(2, "No such file or directory", file)
    return opened(file, *given, **named)


builtins.open = open_but_proc
