# Written by `python -m tests.stubs`.
from harness.framework.mindrecord.writing import FileWriter as FileWriter
from harness.mindrecord import common as common
from harness.mindrecord import config as config
from harness.mindrecord import core as core
from harness.mindrecord import filereader as filereader
from harness.mindrecord import filewriter as filewriter
from harness.mindrecord import mindpage as mindpage
from harness.mindrecord import tools as tools
SUCCESS: str
