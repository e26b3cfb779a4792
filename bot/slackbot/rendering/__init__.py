"""Block Kit views and messages. Pure: no request, no clock."""
