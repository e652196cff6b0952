package guard

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// startOf is when a process was started, in a unit of the system; unknown if it has ended.
func startOf(pid int) (started int64, known bool) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// After the name, which may contain anything, comes the state.
	fields := bytes.Fields(content[bytes.LastIndexByte(content, ')')+1:])
	if err != nil || len(fields) < 20 || string(fields[0]) == "Z" {
		return 0, false
	}
	started, err = strconv.ParseInt(string(fields[19]), 10, 64)
	return started, err == nil
}
