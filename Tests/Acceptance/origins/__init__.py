"""Real origins on loopback: nginx and nghttpd, and a scripted one for what those never do."""
