// Package system has what is different on each operating system and has no other place.
package system

import "syscall"

// EndsWithParent are the attributes of a process that gets this signal when its parent ends.
func EndsWithParent(signal syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: signal}
}

// ofTmpfs is what statfs says of a file system in memory.
const ofTmpfs = 0x01021994

// InMemory reports whether a folder is in memory alone, and whether it is there.
func InMemory(folder string) (is, exists bool) {
	var system syscall.Statfs_t
	if err := syscall.Statfs(folder, &system); err != nil {
		return false, false
	}
	return system.Type == ofTmpfs, true
}
