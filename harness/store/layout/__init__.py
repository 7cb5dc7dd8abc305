"""What a store is made of: names and types, tables of slots, objects, and the contents that lead to them."""
