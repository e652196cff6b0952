"""What every concept stands on: ids, times, and the kinds of errors. It imports nothing else of Headgate."""
