"""Uses of configurations by groups and hosts, and the operations that a use forbids."""
