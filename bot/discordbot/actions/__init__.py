"""Actions of people on Discord: slash commands, buttons, context menus and forms."""
