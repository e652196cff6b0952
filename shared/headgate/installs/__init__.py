"""What a host needs to join a deployment group: install commands, links and the released files."""
