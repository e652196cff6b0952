"""Staged rollouts of a version to a deployment group, and the executions that carry them out."""
