"""The protocol by which supervisors report and are told what to run."""
