"""The fake daemon of `carpool.testing`."""
