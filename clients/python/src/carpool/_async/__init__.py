"""The asyncio client, the one that is written by hand."""
