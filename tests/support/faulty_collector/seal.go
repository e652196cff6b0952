package main

import (
	"runtime"
	"syscall"
	"unsafe"
)

// seal gives every thread a filter of system calls that permits all: nothing is confined, and it shows in /proc.
func seal() {
	type instruction struct {
		code   uint16
		jt, jf uint8
		k      uint32
	}
	permit := instruction{code: 0x06, k: 0x7fff0000} // BPF_RET, SECCOMP_RET_ALLOW
	filter := struct {
		length       uint16
		instructions *instruction
	}{1, &permit}
	number := map[string]uintptr{"amd64": 317, "arm64": 277}[runtime.GOARCH]
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const noNewPrivileges, modeFilter, allThreads = 38, 1, 1
	if _, _, errno := syscall.Syscall6(syscall.SYS_PRCTL, noNewPrivileges, 1, 0, 0, 0, 0); errno != 0 {
		panic(errno)
	}
	if _, _, errno := syscall.Syscall(number, modeFilter, allThreads, uintptr(unsafe.Pointer(&filter))); errno != 0 {
		panic(errno)
	}
}
