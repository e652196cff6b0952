"""The foundation of every concept: ids, times, errors, the caller, facts of the collector. It imports no concept."""
