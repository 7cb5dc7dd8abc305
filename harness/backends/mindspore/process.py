"""One test's process under the real MindSpore: its request, its outcome, and its capture."""

from __future__ import annotations

import inspect
import json
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.backends.calls import Call, Opening, Outcome
from harness.backends.dump_tree import sections
from harness.backends.mindspore.folders import project_paths
from harness.backends.mindspore.server import Server, ending
from harness.backends.mindspore.values import received
from harness.backends.mindspore.worker import MARK
from harness.capture import Capture, read_tree
from harness.capture.capture import RECORDED
from harness.capture.lookup import Lookup
from harness.capture.recorder import MODES, read_recorder
from harness.devices import DEVICES
from harness.errors import BackendError, TreeError, UnsupportedError
from harness.records import Array, Record, SlotKey
from harness.words import counted

if TYPE_CHECKING:
    from harness.backends.mindspore.backend import Mindspore

KEPT = ("execution_order/",)
"""Texts of a tree that a capture has; the graphs' quote MindSpore's own source."""
_TREE, _OUTCOME, _OUTPUT = "tree", "outcome.json", "output.txt"
_PATH = re.compile(r"[A-Za-z0-9_/-]+")
_ADDRESS = re.compile(rb"^&(?:0x)?[0-9a-fA-F]+(?= #)", re.MULTILINE)
_TAIL = 3000
_OURS = ("MINDSPORE_DUMP_CONFIG", "MS_RDR_", "MSDUMP_", "PYTEST_CURRENT_TEST")


class Begun(NamedTuple):
    """The forks that carry out a call.

    Attributes:
        state: the call, and what of this process it depends on.
        started: worker, number of the request and its folder; the first dumps.
    """

    state: tuple[Any, ...]
    started: list[tuple[Server, int, Path]]


def planned(capture: Capture) -> Iterator[Record]:
    """The records with independent operators in planned order, because MindSpore's threads launch them in any order."""
    place = {(graph, name): at for graph, names in capture.execution_order.items() for at, name in enumerate(names)}

    def group(record: Record) -> tuple[int, int, bool]:
        return record.key.graph, record.key.iteration, record.op_type == "Parameter"

    def rank(record: Record) -> tuple[int, int]:
        return record.key.execution, place.get((record.key.graph, record.key.operator), 0)

    for (_, _, is_parameter), together in groupby(capture.records(), group):
        records = list(together)
        yield from records if is_parameter else sorted(records, key=rank)


def steady(name: str, text: bytes) -> bytes:
    """A recorder's text without what differs between two runs of a process that has threads: in the list of addresses
    these are left out, and kernels stand in the order of their names."""
    if "mem_address_list" not in name:
        return text
    kernels = _ADDRESS.sub(b"&", text).split(b"\n\n")
    return b"".join(kernel + b"\n\n" for kernel in sorted(kernels) if kernel)


class MindsporeProcess:
    """See ``Process``; it does not run a program of this process but a ``Call``.

    Attributes:
        backend: that opened it.
        session: None, what it runs is not seen here.
        tree: where MindSpore's dump tree is while the process lasts.
    """

    session = None

    def __init__(self, backend: Mindspore, network: str, mode: str, rootdir: str | None, rdr: bool) -> None:
        self.backend = backend
        self._network = network
        self._mode = mode
        self._rootdir = rootdir
        self._folder = Path(tempfile.mkdtemp(dir=backend.folder()))
        self._installed = backend.installed()
        # Modes of the recorder; the first run writes the tree, too.
        self._recorders: Sequence[int | None] = tuple(reversed(MODES)) if rdr and self._installed.records else (None,)
        self._versions: dict[str, str] = {}
        self._kept_in: Path | None = None
        self._begun: Begun | None = None
        self._recorded = self._folder / "rdr"
        self.tree = self._folder / _TREE
        if _PATH.fullmatch(str(self._folder)) is None:
            self.close()
            raise UnsupportedError(
                f"backend mindspore: MindSpore dumps only to paths of letters, digits, '_', '-' and '/'; "
                f"{tempfile.gettempdir()!r} is not such a path; set TMPDIR to one"
            )

    def execute(self, program: Callable[[], Any]) -> None:
        """See ``Process.execute``; ``program`` is a function of a module, whose file the other process imports.

        Raises:
            UnsupportedError: it is not.
            BackendError: it failed there; says how.
        """
        found = inspect.unwrap(program)
        names = tuple(getattr(found, "__qualname__", "<locals>").split("."))
        file = inspect.getsourcefile(found) if inspect.isfunction(found) else None
        if file is None or len(names) > 1:
            raise UnsupportedError(f"backend {self.backend.name} runs only functions of modules, got {program!r}")
        outcome = self.call(Call(file, found.__module__, names, paths=project_paths()))
        if outcome.kind != "passed":
            raise BackendError(f"backend {self.backend.name}: {self._network} {outcome.kind}:\n{outcome.text}")

    def call_test(self, call: Callable[[], Call], coming: Callable[[], Iterable[tuple[Opening, Call]]]) -> Outcome:
        """See ``Process.call_test``."""
        asked = call()
        self.begin(asked)
        self.backend.call_ahead(coming())
        return self.call(asked)

    def follow(self, module: Any) -> None:
        """See ``Process.follow``: PyTorch modules belong to this process."""

    def graft(self, values: Mapping[SlotKey, Array]) -> None:
        """See ``Process.graft``: MindSpore's kernels cannot be reached."""
        raise UnsupportedError("MindSpore goes on with its own tensors alone")

    def stepped(self) -> None:
        """See ``Process.stepped``: MindSpore counts."""

    def settled(self) -> AbstractContextManager[None]:
        """See ``Process.settled``: PyTorch modules run on another backend."""
        return nullcontext()

    def keep_tree(self, folder: Path) -> None:
        """See ``Process.keep_tree``; MindSpore first writes it to another place."""
        self._kept_in = folder

    def look_up(self, lookup: Lookup) -> None:
        """See ``Process.look_up``: values come from files, which nothing changes."""

    def call(self, call: Call) -> Outcome:
        """Calls a function under MindSpore with everything dumped; waits until its process ended.

        With the recorder it is called twice, in a process for each of its modes.

        Raises:
            BackendError: no worker could be started.
        """
        try:
            outcome = self._outcome_of(self.begin(call))
        except BackendError:
            # Another call, made ahead, may have ended the worker.
            if self.backend.drop_ahead() == 0:
                raise
            outcome = self._outcome_of(self.begin(call))
        if self._kept_in is not None and self.tree.is_dir():
            shutil.copytree(self.tree, self._kept_in)
        return outcome

    def begin(self, call: Call) -> Begun:
        """Starts the work of ``call``, if it is not started yet.

        Raises:
            BackendError: no worker could be started.
        """
        begun = self._begun
        if begun is not None:
            if begun.state == self._state(call) and all(server.alive for server, _, _ in begun.started):
                return begun
            self.abandon()
        trees = (self.tree, *(None for _ in self._recorders[1:]))
        begun = Begun(self._state(call), [])
        for recorder, tree in zip(self._recorders, trees, strict=True):
            begun.started.append(self._start(call, recorder, tree))
        self._begun = begun
        return begun

    def abandon(self) -> None:
        """Ends work that was begun and is no longer needed."""
        begun, self._begun = self._begun, None
        for server, number, _ in begun.started if begun is not None else ():
            if server.alive:
                server.kill(number)
        for left in (self.tree, self._recorded):
            shutil.rmtree(left, ignore_errors=True)

    def _outcome_of(self, begun: Begun) -> Outcome:
        self._begun = None
        outcome, *_ = [self._ended(*each) for each in begun.started]
        return outcome

    def _state(self, call: Call) -> tuple[Any, ...]:
        return call, os.getcwd(), self._environment()

    def _environment(self) -> dict[str, str]:
        return {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}

    def _start(self, call: Call, recorder: int | None, tree: Path | None) -> tuple[Server, int, Path]:
        folder = Path(tempfile.mkdtemp(prefix="call-", dir=self._folder))
        limit = self.backend.timeout
        request = {
            **{name: getattr(call, name) for name in Call.__dataclass_fields__},
            "folder": str(folder),
            "output": str(folder / _OUTPUT),
            "environment": self._settings(folder, recorder, tree),
            "cwd": os.getcwd(),
            "backend": self.backend.name,
            "mode": self._mode,
            "jit_level": DEVICES.get(self._installed.device).level,
            # Where it hangs is written in time to be read.
            "seconds": max(limit - 1, limit / 2),
        }
        server = self.backend.server()
        self._versions = server.versions
        return server, server.submit(request), folder

    def _ended(self, server: Server, number: int, folder: Path) -> Outcome:
        try:
            ended = server.wait(number, self.backend.timeout)
        except BaseException:
            # Ctrl-C, most likely: nothing may be left running.
            server.close()
            raise
        if ended is None:
            server.kill(number)
        return self._outcome(folder, ended.code if ended else None, ended.cpu if ended else 0.0)

    def _settings(self, folder: Path, recorder: int | None, tree: Path | None) -> dict[str, str]:
        """The environment, with MindSpore's settings of the dump and the recorder, and the files it writes aside."""
        found = self._environment()
        aside = str(folder / "aside")
        found.setdefault("MS_OM_PATH", aside)
        found.setdefault("MS_COMPILER_CACHE_PATH", aside)
        found[MARK] = folder.name
        if tree is not None:
            settings = sections(str(tree), DEVICES.get(self._installed.device), self._mode)
            config = folder / "data_dump.json"
            config.write_text(json.dumps(settings), encoding="utf-8")
            found["MINDSPORE_DUMP_CONFIG"] = str(config)
        if recorder is not None:
            path = str(self._recorded / str(recorder))
            found.update(MS_RDR_ENABLE="1", MS_RDR_MODE=str(recorder), MS_RDR_PATH=path)
        return found

    def _outcome(self, folder: Path, code: int | None, cpu: float) -> Outcome:
        """``code`` is None where it was killed for its time."""
        output = _read(folder / _OUTPUT)
        try:
            told = json.loads(_read(folder / _OUTCOME))
        except ValueError:
            told = {"outcome": "failed", "text": "", "programs": 0}
        if code == 0 and told["text"] == "" and told["outcome"] == "failed":
            told["text"] = "its process ended before the test did (exit code 0)"
        elif code != 0:
            how = f"was killed after {self.backend.timeout:g} s (--msdump-mindspore-timeout)"
            how = how if code is None else f"died: {ending(code)}"
            own = str(Path(__file__).parent)
            last = "\n".join([line for line in output[-_TAIL:].splitlines() if own not in line][-25:])
            text = f"the process of MindSpore {self._installed.version} {how}"
            told.update(outcome="failed", text="\n".join(filter(None, (told["text"], text, last))))
        given = [(name, received(value)) for name, value in told.get("given", ())]
        return Outcome(told["outcome"], told["text"], output, told["programs"], cpu, given)

    def capture(self) -> Capture:
        """MindSpore's dump, read on request, with the recorder's files.

        Raises:
            TreeError: a file of the tree was not finished, or is damaged.
        """
        recorded = {
            f"{RECORDED}{mode}/{name}": steady(name, text)
            for mode in sorted(mode for mode in self._recorders if mode is not None)
            for name, text in read_recorder(self._recorded / str(mode), self._rootdir).items()
        }
        rules = {**self._versions, "machine": platform.machine()}
        rules.pop("mindspore", None)  # the tree says it
        if not self.tree.is_dir():
            rules["ms_version"] = self._installed.version
            return Capture(self._network, self.backend.name, False, [], self._mode, rules, recorded)
        found = read_tree(self.tree, backend=self.backend.name, rootdir=self._rootdir)
        records = list(planned(found))
        if found.lost:
            worst = "; ".join(f"{each.path}: {each.kind}, {each.why}" for each in found.lost[:5])
            raise TreeError(f"{counted(len(found.lost), 'file')} of MindSpore's dump tree cannot be read: {worst}")
        texts = {name: text for name, text in found.artefacts.items() if name.startswith(KEPT)}
        return replace(
            found,
            network=self._network,
            mode=self._mode,
            source=records,
            rules={**found.rules, **rules},
            artefacts={**texts, **recorded},
        )

    def close(self) -> None:
        """Removes everything it wrote."""
        self.abandon()
        shutil.rmtree(self._folder, ignore_errors=True)


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
