package main

import (
	"syscall"
	"unsafe"
)

// tried makes system calls, by number and arguments, and tells of each what came of it: "made", or the error. A text
// among the arguments goes as its address.
func tried(calls map[string][]any) map[string]string {
	results := map[string]string{}
	for name, call := range calls {
		var words [7]uintptr
		for i, argument := range call {
			switch value := argument.(type) {
			case float64:
				words[i] = uintptr(int64(value))
			case string:
				text, err := syscall.BytePtrFromString(value)
				if err != nil {
					panic(err)
				}
				words[i] = uintptr(unsafe.Pointer(text))
				kept = append(kept, text)
			}
		}
		_, _, errno := syscall.Syscall6(words[0], words[1], words[2], words[3], words[4], words[5], words[6])
		results[name] = "made"
		if errno != 0 {
			results[name] = errno.Error()
		}
	}
	return results
}

// kept holds the texts whose addresses are words only.
var kept []*byte
