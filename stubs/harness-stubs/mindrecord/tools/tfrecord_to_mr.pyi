# Written by `python -m tests.stubs`.
from harness.framework.mindrecord.writing import FileWriter as FileWriter
