"""`rollout` and `rollback`: a version reaches a deployment group in steps, or the group goes back."""
