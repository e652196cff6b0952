"""`--local` for pipeline tests: a collector of this machine, asked and run as the service does, without a server."""
