"""Traffic of collectors over time: hosts' counters, added up by group, pipeline and component."""
