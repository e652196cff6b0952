package check

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// memoryDescriptor is where the launcher leaves /proc/self/statm open: in a root directory of its own, this process has
// no /proc.
const memoryDescriptor = 4

// statm is /proc/self/statm, opened while files may be opened.
type statm struct{ file *os.File }

func openStatm() (statm, error) {
	file, err := os.Open("/proc/self/statm")
	if err == nil {
		return statm{file}, nil
	}
	file = os.NewFile(memoryDescriptor, "statm")
	if _, isClosed := file.Stat(); isClosed != nil {
		return statm{}, fmt.Errorf("opening /proc/self/statm: %w", err)
	}
	return statm{file}, nil
}

// residentBytes is the memory that the process holds, 0 if the system does not tell.
func (s statm) residentBytes() int64 {
	var content [128]byte
	n, _ := s.file.ReadAt(content[:], 0)
	fields := bytes.Fields(content[:n])
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
