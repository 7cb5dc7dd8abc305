"""The built-in rules, by subject; each module registers its own."""
