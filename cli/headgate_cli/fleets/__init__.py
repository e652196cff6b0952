"""`fleet` and `deployment`: collectors, and what each group of them runs."""
