"""The texts of a dump tree: metadata, graphs, execution order.

Names, contents and who overwrites what: dump_output.md sections 1 and 5, measured on 2.10.0.
"""

from __future__ import annotations

import json

from harness import log
from harness.dump.config import DumpConfig
from harness.dump.names import row_text
from harness.dump.writer import Tree
from harness.recording import Engine, Graph

METADATA = ".dump_metadata"
ENGINE, EMULATED = "engine", "emulated"
"""Fields of its ``config.json`` that only other runtimes' trees have."""
GRAPHS = "graphs"
EXECUTION_ORDER = "execution_order"
HEADING = "NodeExecutionOrder-FullNameWithScope"
_log = log.get("dump.metadata")


def write_metadata(
    tree: Tree, config: DumpConfig, device_target: str, ms_version: str, engine: Engine | None = None
) -> None:
    """``.dump_metadata``: the configuration's bytes and the dumping process; existing files are kept (measured).

    Args:
        engine: who runs the graphs, if it is another runtime than MindSpore or its emulation; it is named.
    """
    facts: dict[str, object] = {"device_target": device_target, "ms_version": ms_version}
    if engine is not None:
        facts |= {ENGINE: str(engine), EMULATED: engine.emulated}
    about = json.dumps(facts, separators=(",", ":"))
    with tree.opened(METADATA) as directory:
        if directory is None:
            return
        files = ("data_dump.json", config.raw), ("config.json", about.encode())
        if any(directory.exists(name) for name, _ in files):
            _log.warning(
                "dump: %s holds the dump of an earlier run: the files of both lie in one tree now and are read as one "
                "run; remove it before, or dump to another path",
                directory.path.rpartition("/")[0],
            )
        for name, content in files:
            if directory.exists(name):
                _log.warning("dump: %s/%s is there already and is kept as it is", directory.path, name)
            else:
                directory.write(name, [content])


def write_graph(tree: Tree, graph: Graph) -> None:
    """``graphs/*.pb``, ``graphs/*.ir`` and the graph's execution order; files of an earlier run are replaced."""
    from harness.graph import ir, pb
    from harness.graph.form import form_of

    form = form_of(graph)
    with tree.opened(GRAPHS) as directory:
        if directory is not None:
            stem = f"ms_output_trace_code_graph_{graph.id}"
            directory.write(f"{stem}.pb", [pb.write(form)])
            directory.write(f"{stem}.ir", [ir.write(form).encode("utf-8", "replace")])
    lines = [HEADING, *(row_text(operator.name) for operator in graph.order)]
    with tree.opened(EXECUTION_ORDER) as directory:
        if directory is not None:
            directory.write(f"ms_execution_order_graph_{graph.id}.csv", [("\n".join(lines) + "\n").encode()])


def append_global_order(tree: Tree, root_graph: int, label: int) -> None:
    """Appends a step's label to the root graph's global execution order."""
    with tree.opened(EXECUTION_ORDER) as directory:
        if directory is not None:
            directory.append(f"ms_global_execution_order_graph_{root_graph}.csv", str(label))
