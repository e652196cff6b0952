"""The named tests of a version, as their list and by their digests, and the evidence that they passed."""
