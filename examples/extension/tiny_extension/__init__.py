"""One of everything that can be added to pytest-msdump; ``pyproject.toml`` names them."""
