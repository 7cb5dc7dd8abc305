"""Summary files, which MindInsight shows."""
