"""Generated programs, run here and under the real MindSpore."""
