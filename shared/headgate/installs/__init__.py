"""Installs of hosts that join a deployment group: commands, links and the released files."""
