# Written by `python -m tests.stubs`.
from harness.mindrecord.core import shardheader as shardheader
from harness.mindrecord.core import shardindexgenerator as shardindexgenerator
from harness.mindrecord.core import shardreader as shardreader
from harness.mindrecord.core import shardsegment as shardsegment
from harness.mindrecord.core import shardutils as shardutils
from harness.mindrecord.core import shardwriter as shardwriter
