"""MindInsight's view of a dump tree, as JSON: ``python mindinsight_view.py TREE``.

For an interpreter that has MindInsight. Each ``.pb`` is parsed by MindInsight's own message definitions; then come the
tensor files its DumpParser finds for each operator.
"""

import json
import sys
from pathlib import Path

from mindinsight.domain.graph.proto import ms_graph_pb2
from mindinsight.parser.dump import DumpParser


def graphs(tree):
    """By file name: nodes as (op type, full name), parameters, constants, and whether it serialises unchanged."""
    found = {}
    for path in sorted(Path(tree).glob("rank_*/graphs/*.pb")):
        model = ms_graph_pb2.ModelProto()
        raw = path.read_bytes()
        model.ParseFromString(raw)
        found[path.name] = {
            "nodes": [[node.op_type, node.full_name] for node in model.graph.node],
            "parameters": [parameter.name for parameter in model.graph.parameters],
            "constants": len(model.graph.const_vals),
            "same": model.SerializeToString() == raw,
        }
    return found


def files(tree):
    """By operator: how many input and output files the DumpParser finds."""
    found = {}
    for name, paths in DumpParser(tree).get_tensor_files("", use_regex=False).items():
        slots = [slot for iterations in paths.to_dict().values() for slot in iterations.values()]
        found[name] = {io: sum(len(slot[io]) for slot in slots) for io in ("input", "output")}
    return found


if __name__ == "__main__":
    print(json.dumps({"graphs": graphs(sys.argv[1]), "files": files(sys.argv[1])}))
