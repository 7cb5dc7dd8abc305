# Written by `python -m tests.stubs`.
from harness.rewrite.api import node as node
from harness.rewrite.api import node_type as node_type
from harness.rewrite.api import pattern_engine as pattern_engine
from harness.rewrite.api import scoped_value as scoped_value
from harness.rewrite.api import symbol_tree as symbol_tree
