"""Interactions: commands, buttons, forms, shortcuts, the home tab and the assistant pane."""
