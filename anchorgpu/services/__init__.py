"""The servers that the demo and the tests start by themselves. Nothing here imports Django."""
