"""What people do on Discord besides writing: slash commands, buttons, context menus and forms."""
