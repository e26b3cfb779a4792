"""What a text speaks of: terms it defines, names it uses, its topics."""
