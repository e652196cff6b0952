"""What every concept uses: ids, times, errors, the caller, facts of the collector. It imports nothing of Headgate."""
