package guard

// startOf is unknown: a collector's job ends with its guard.
func startOf(int) (started int64, known bool) { return 0, false }
