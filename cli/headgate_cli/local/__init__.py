"""`--local`: the collectors of this machine, asked and run by the engine as the service does, without a server."""
