"""What operators see: the log, the metrics, and whose fault an error is."""
