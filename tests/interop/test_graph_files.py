"""Graph files of ours, read by MindInsight's own message definitions."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from harness.graph import pb
from harness.graph.ir_parse import parse
from tests.graph.build import dense
from tests.graph.rebuild import rebuild
from tests.real_trees import graph_files

pytestmark = pytest.mark.interop

READ = """
import json, sys
from mindinsight.domain.graph.proto import ms_graph_pb2
data = open(sys.argv[1], "rb").read()
model = ms_graph_pb2.ModelProto()
model.ParseFromString(data)
graph = model.graph
print(json.dumps({
    "nodes": [[n.name, n.op_type, n.full_name, [i.name for i in n.input]] for n in graph.node],
    "parameters": [p.name for p in graph.parameters],
    "constants": [[c.key, c.full_name] for c in graph.const_vals],
    "same": model.SerializeToString() == data,
}))
"""


@pytest.mark.parametrize("case", ["dense", "train", "values"])
def test_mindinsight_reads_it(case: str, mindinsight_python: str, tmp_path: Path) -> None:
    if case == "dense":
        graph = dense()
    else:
        files = graph_files(case)[0]
        graph = rebuild(parse(files["ir"].decode()), pb.read(files["pb"]))
    path = tmp_path / "graph.pb"
    path.write_bytes(pb.write(graph))
    run = subprocess.run([mindinsight_python, "-c", READ, str(path)], capture_output=True, text=True, check=True)
    found = json.loads(run.stdout)
    assert [row[:3] for row in found["nodes"]] == [[str(k), n.op, n.name] for k, n in enumerate(graph.nodes, 1)]
    assert [len(row[3]) for row in found["nodes"]] == [len(n.inputs) for n in graph.nodes]
    assert found["parameters"] == [p.name for p in graph.parameters]
    assert found["constants"] == [[f"cst{k + 1}", f"Default_data-{k}"] for k in range(len(graph.constants))]
    assert found["same"] or case == "values"  # bytes of enum values it does not know move to the end
