"""Summary files: what MindInsight shows of a training."""
