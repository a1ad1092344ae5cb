"""Real origins on loopback: nginx and nghttpd, and a scripted one for faults that those do not make."""
