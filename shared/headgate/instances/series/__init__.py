"""What flows through the collectors over time: hosts' counters, added up by group, pipeline and component."""
