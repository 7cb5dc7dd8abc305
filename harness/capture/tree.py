"""Reads a dump tree, ours or MindSpore's, as a ``Capture``.

Names are read first; tensors are read on request, with one open and one read each. An unfinished or damaged file is
left out and listed. The reader fails only for a link that leaves the tree, a text that is not a graph, or a directory
that is not a tree.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any

from harness.attributes import checked_rules
from harness.capture.arguments import ArgumentsFile, artefacts, is_arguments_file
from harness.capture.bin_files import read_bin_files
from harness.capture.capture import Capture, Problem, in_turn
from harness.capture.directory_kinds import Kinds, instead_of_a_tree, is_single_file, kinds_of
from harness.capture.join import Join
from harness.capture.models import read_models
from harness.capture.msprobe import read_msprobe
from harness.capture.named_tensors import onnx
from harness.capture.names import is_label
from harness.capture.networks import chosen
from harness.capture.normalise import ir_text
from harness.capture.tree_records import RankDirectory, RankRecords
from harness.capture.tree_rows import joined
from harness.errors import TreeError
from harness.graph.ir import STABLE_POINTER
from harness.graph.ir_parse import IrGraph
from harness.graph.ir_parse import parse as parse_ir
from harness.reading import is_directory, read_bytes, read_object, refuse_outside
from harness.records import Rows

MAX_TEXT = 1 << 28
"""Largest size of graph texts and csv files in bytes; larger ones are refused."""
RULES = "config.json"
"""Beside a dump: what made its values."""
RANK = re.compile(r"(?:rank|device)_(\d{1,9})$")
_GRAPH = re.compile(r"ms_output_trace_code_graph_(\d{1,9})\.ir$")
_ORDER = re.compile(r"ms_(global_)?execution_order_graph_(\d{1,9})\.csv$")
_DEPTH = 3
"""Directories from a rank's to an iteration's: network, graph, iteration."""
_NOT_NETWORKS = frozenset({".dump_metadata", "graphs", "execution_order", "debug_files"})


def inside(root: str, path: str) -> str:
    """``path`` itself; ``TreeError`` if it is (or goes through) a link that leaves ``root``."""
    refuse_outside(path, root, TreeError)
    return path


def _text(root: str, path: str) -> bytes:
    return read_bytes(path, MAX_TEXT, TreeError, inside=root)


def _listing(path: str) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise TreeError(f"{path}: {error.strerror}") from None


def rank_directories(path: str, only: int | None = None) -> dict[int, str]:
    """The rank directories of a tree: ``path`` itself, its ``rank_N``, or those of its ``debug_dump``.

    Args:
        only: the one that will be read; of the others no more is looked at than their names.
    """
    root = os.path.realpath(path)
    if "://" in path:
        raise TreeError(f"{path}: workers read what is at a URL; give --workers or --scheduler")
    if not is_directory(root, TreeError):
        raise TreeError(f"{path}: {instead_of_a_tree(root)}")
    own = RANK.search(root)
    if own:
        return {int(own[1]): root}
    for base in (root, os.path.join(root, "debug_dump")):
        names = [name for name in _listing(base) if RANK.fullmatch(name)] if is_directory(base, TreeError) else []
        if names:
            found = {int(name.rpartition("_")[2]): os.path.join(base, name) for name in names}
            return {
                rank: os.path.realpath(inside(root, place)) if only in (None, rank) else place
                for rank, place in found.items()
            }
    raise TreeError(f"{path}: {instead_of_a_tree(root)}")


class _Rank:
    """One rank's graphs, orders and networks.

    Attributes:
        emulated: whether the numbers are those of a device that they do not come from: MindSpore prints a pointer
            where our emulation prints a constant; other runtimes are named in the graphs and the metadata.
        engine: name and version of the runtime that ran it; empty for MindSpore and its emulation.
        last: the iteration that was begun last, by graph.
        problems: graphs that were not finished.
    """

    def __init__(self, rank: int, root: str, rootdir: str) -> None:
        self.rank = rank
        self.root = root
        self.rootdir = rootdir
        self.artefacts: dict[str, bytes] = {}
        self.orders: dict[int, tuple[str, ...]] = {}
        self.last: dict[int, int] = {}
        self.problems: list[Problem] = []
        self._kinds: dict[str, Kinds] = {}
        graphs = self._graphs()
        ours = any(graph.instance == STABLE_POINTER for graph in graphs)
        self.join = Join(graphs, rootdir, ours=ours)
        self._read_orders()
        self.metadata = self._json(RULES)
        engine = self.metadata.get("engine") or next((graph.engine for graph in graphs if graph.engine), "")
        self.engine = engine if isinstance(engine, str) else ""
        self.emulated = ours
        if self.engine:
            self.emulated = self.metadata.get("emulated") is True or any(graph.emulated for graph in graphs)
            self.metadata |= {"engine": self.engine, "emulated": self.emulated}

    def _graphs(self) -> list[IrGraph]:
        folder = os.path.join(self.root, "graphs")
        found: dict[int, IrGraph] = {}
        for name in _listing(folder):
            match = _GRAPH.fullmatch(name)
            if match:
                path = os.path.join(folder, name)
                text = _text(self.root, path).decode("utf-8", "replace")
                try:
                    found[int(match[1])] = parse_ir(text, path)
                except TreeError as error:
                    if self._ran(match[1]):
                        raise
                    # The run was stopped while it compiled: graphs are written before they run.
                    self.problems.append(Problem(os.path.join("graphs", name), "incomplete", str(error)))
                    continue
                self.artefacts[f"graphs/{name}"] = ir_text(text, self.rootdir).encode()
        return [found[number] for number in sorted(found)]

    def _ran(self, graph: str) -> bool:
        """Whether a graph left tensors."""
        return any(is_directory(os.path.join(self.root, each, graph), TreeError) for each in self.networks())

    def _read_orders(self) -> None:
        folder = os.path.join(self.root, "execution_order")
        for name in _listing(folder):
            match = _ORDER.fullmatch(name)
            if match is None:
                continue
            data = _text(self.root, os.path.join(folder, name))
            self.artefacts[f"execution_order/{name}"] = data
            graph = int(match[2])
            if match[1] is not None:
                if begun := [line for line in data.decode("utf-8", "replace").split() if is_label(line)]:
                    self.last[graph] = int(begun[-1])
            else:
                names = data.decode("utf-8", "replace").split("\n")[1:]
                self.orders[graph] = tuple(self.join.file_name(graph, n) for n in names if n)

    def networks(self) -> list[str]:
        """Names of the directories that can hold tensors."""
        return [
            name
            for name in _listing(self.root)
            if name not in _NOT_NETWORKS and is_directory(f"{self.root}/{name}", TreeError) and not self._recorder(name)
        ]

    def _recorder(self, name: str) -> bool:
        """Whether a directory belongs to the Running Data Recorder and holds no graph; a network may have the same
        name."""
        if name != "rdr":
            return False
        folder = os.path.join(self.root, name)
        return not any(each.isdigit() and is_directory(f"{folder}/{each}", TreeError) for each in _listing(folder))

    def kinds(self, network: str) -> Kinds:
        """The kinds of files in a network's first iteration directory; examined once."""
        if network not in self._kinds:
            self._kinds[network] = _kinds(self, network)
        return self._kinds[network]

    def configured_network(self) -> str:
        """The network's name in the dump configuration; empty if it is not stated there."""
        common = self._json("data_dump.json").get("common_dump_settings")
        name = common.get("net_name") if isinstance(common, dict) else None
        return name if isinstance(name, str) else ""

    def _json(self, name: str) -> dict[str, Any]:
        path = os.path.join(self.root, ".dump_metadata", name)
        if not os.path.lexists(path):
            return {}
        try:
            found = read_object(path, MAX_TEXT, TreeError, inside=self.root)
            return checked_rules(found, lambda told: TreeError(f"{path}: {told}")) if name == RULES else found
        except TreeError as error:
            self.problems.append(Problem(os.path.join(".dump_metadata", name), "damaged", str(error)))
            return {}

    @property
    def keeps_modes(self) -> bool:
        """True if files still have the modes their writer gave them (a copied tree may not)."""
        for name in ("data_dump.json", "config.json"):
            try:
                return os.lstat(os.path.join(self.root, ".dump_metadata", name)).st_mode & 0o777 == 0o400
            except OSError:
                continue
        return False


def read_tree(
    path: str | os.PathLike[str],
    rank: int | None = None,
    *,
    network: str | None = None,
    backend: str | None = None,
    rootdir: str | None = None,
    ahead: bool = False,
    one_of_several: bool = False,
    root: str = "",
) -> Capture:
    """Reads a dump tree.

    Args:
        path: the dump path, a ``rank_N`` directory, a ``MS_DIAGNOSTIC_DATA_PATH``, a directory that holds only dump
            files, a ``dump_path`` of msprobe, ONNX's test data, or a file alone (see ``single_files``).
        rank: the only rank to read; by default all ranks, one after the other.
        network: name of the network to read, if the tree holds several.
        backend: name of the backend; by default ``mindspore``, or for a tree of its emulation ``cpu``, ``gpu`` or
            ``ascend`` (Ascend trees do not state their level), or the name of another runtime that recorded it.
        rootdir: source paths are given relative to it; the current directory by default.
        ahead: whether every tensor will be read, so that files may be read ahead.
        one_of_several: others read the other ranks, and whoever joins them decides what all of them decide: which
            network is read, the backend (here always the device's), the mode (empty where this rank does not tell),
            and whether too little can be read.
        root: real path of the rank's directory, if that is known; the rest of the tree is not looked at then.

    Returns:
        A capture that reads the tensors again each time its records are requested.

    Raises:
        TreeError: ``path`` is not a dump tree, lacks the rank or the network, has a link that leaves it, or holds a
            damaged ``.ir``.

    Examples:
        >>> from harness.capture import read_tree
        >>> first = next(iter(read_tree("dump").records()))
        >>> first.key.operator, first.key.slot_name, first.dtype, first.shape
        ('Default/MatMul-op0', 'input.0', 'Float32', (1, 3))
        >>> first.load()
        array([[1., 2., 3.]], dtype=float32)
    """
    where = os.fspath(path)
    more: Any = {"backend": backend, "one_of_several": one_of_several}
    known = {rank: root} if root and rank is not None else None
    other = None if known else _of_other_layout(where, rank, network, rootdir, ahead, more)
    if other is not None:
        return _as_its_tree_says(other, where, backend)
    ranks = _ranks(known or _chosen(rank_directories(where, rank), rank, where), rootdir)
    names = sorted({name for each in ranks for name in each.networks()})
    name = _network(names, network, where, one_of_several) or ranks[0].configured_network()
    problems = [problem for each in ranks for problem in each.problems]
    sources = _sources(ranks, name, problems, ahead)
    emulated = any(r.emulated for r in ranks)
    mode = _mode(ranks, name, "" if one_of_several else "tensor")
    return Capture(
        name,
        backend or _backend_of(ranks[0], name, emulated or one_of_several),
        emulated,
        in_turn(sources, problems),
        mode,
        rules=ranks[0].metadata,
        artefacts=_artefacts(ranks, name),
        execution_order=ranks[0].orders,
        problems=problems,
        listed=lambda: sum(source.listed for source in sources),
        as_rows=_rows(sources if mode == "statistic" else [], problems),
        sources=sources,
        networks=names,
    )


def _of_other_layout(
    path: str, rank: int | None, network: str | None, rootdir: str | None, ahead: bool, more: dict[str, Any]
) -> Capture | None:
    """A tree without rank directories, or a file alone; None if it is neither."""
    if is_single_file(path):
        from harness.capture.single_files import read_single_file  # readers of a dozen formats

        return read_single_file(path, more["backend"])
    folder = is_directory(path, TreeError)
    models = read_models(path, rank, network=network, ahead=ahead, **more) if folder else None
    if models is not None or not folder:
        return models
    return (
        read_msprobe(path, rank, rootdir=rootdir, **more)
        or read_bin_files(path, rank, network=network, **more)
        or onnx.read_test_data(path, more["backend"])
    )


def _as_its_tree_says(part: Capture, path: str, backend: str | None) -> Capture:
    """An iteration's directory that was named alone, with what the rank's directory around it says of its origin."""
    inside_of = os.path.dirname(os.path.realpath(path))
    for _ in range(_DEPTH):
        if (rank := RANK.search(inside_of)) and not part.emulated:
            around = _Rank(int(rank[1]), inside_of, os.getcwd())
            part.emulated, part.rules = around.emulated, part.rules or around.metadata
            part.backend = backend or _backend_of(around, "", around.emulated)
            break
        inside_of = os.path.dirname(inside_of)
    return part


def _sources(ranks: list[_Rank], network: str, problems: list[Problem], ahead: bool) -> list[RankRecords]:
    """Of each rank that has tensors of a network."""
    return [
        RankRecords(RankDirectory(r.rank, r.root, network, r.keeps_modes, ahead, r.last), r.join, problems)
        for r in ranks
        if network in r.networks()
    ]


def _network(names: list[str], wanted: str | None, path: str, one_of_several: bool) -> str:
    """The network to read; where others decide, the one they decided for, else the first."""
    return (wanted or "".join(names[:1])) if one_of_several else chosen(names, wanted, path)


def _rows(sources: list[RankRecords], problems: list[Problem]) -> Callable[[], Rows | None]:
    """Like ``in_turn``, for the records as columns."""
    noted = list(problems)

    def rows() -> Rows | None:
        problems[:] = noted
        return joined(source.rows() for source in sources)

    return rows


def _ranks(directories: dict[int, str], rootdir: str | None) -> list[_Rank]:
    base = os.path.abspath(rootdir or os.getcwd())
    return [_Rank(number, root, base) for number, root in sorted(directories.items())]


def _chosen(directories: dict[int, str], rank: int | None, path: str) -> dict[int, str]:
    """The directories of the wanted ranks; all of them for None."""
    if rank is None:
        return directories
    if rank not in directories:
        raise TreeError(f"{path}: no rank {rank} in it; it holds {', '.join(map(str, sorted(directories)))}")
    return {rank: directories[rank]}


def _backend_of(rank: _Rank, network: str, emulated: bool) -> str:
    """The backend of a tree: the runtime that it names, the device of our emulation, or MindSpore."""
    if rank.engine:
        return rank.engine.partition(" ")[0]
    return _device_of(rank, network) if emulated else "mindspore"


def _device_of(rank: _Rank, network: str) -> str:
    """The device of a tree that we wrote, from its metadata, which Ascend lacks."""
    target = rank.metadata.get("device_target")
    if isinstance(target, str):
        return target.lower()
    spelled = rank.kinds(network).dtype
    return "ascend" if spelled is None or spelled.islower() else "cpu"


def _mode(ranks: list[_Rank], network: str, otherwise: str) -> str:
    """The dump mode, told by the kinds of files in the first rank that has any."""
    return next((kinds.mode for kinds in (rank.kinds(network) for rank in ranks) if kinds.mode), otherwise)


def _kinds(rank: _Rank, network: str) -> Kinds:
    """The kinds of files in the first iteration directory that is not empty."""
    for graph in _numbered(rank, os.path.join(rank.root, network)) if network else ():
        for iteration in _numbered(rank, graph):
            found = kinds_of(iteration)
            if found.files:
                return found
    return Kinds()


def _numbered(rank: _Rank, path: str) -> Iterator[str]:
    for name in filter(is_label, _listing(path)):
        found = inside(rank.root, os.path.join(path, name))
        if is_directory(found, TreeError):
            yield found


def _artefacts(ranks: list[_Rank], network: str) -> dict[str, bytes]:
    found = {rank.rank: rank.artefacts | artefacts(_arguments(rank, network)) for rank in ranks}
    if len(ranks) == 1:
        return found[ranks[0].rank]
    return {f"rank_{rank}/{name}": data for rank, texts in found.items() for name, data in texts.items()}


def _arguments(rank: _Rank, network: str) -> Iterator[ArgumentsFile]:
    """The files of operators' arguments; every iteration directory has them, or none."""
    if not rank.kinds(network).arguments:
        return
    for graph in _numbered(rank, os.path.join(rank.root, network)):
        for iteration in _numbered(rank, graph):
            for name in filter(is_arguments_file, _listing(iteration)):
                text = _text(rank.root, os.path.join(iteration, name)).decode("utf-8", "surrogateescape")
                yield ArgumentsFile(int(os.path.basename(graph)), int(os.path.basename(iteration)), name, text)
