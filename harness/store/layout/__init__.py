"""The parts of a store: names and types, tables of slots, objects, and the table of contents."""
