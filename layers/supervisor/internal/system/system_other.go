//go:build !linux

// Package system has what is different on each operating system and has no other place.
package system

import "syscall"

// EndsWithParent returns nil: these systems send a process no signal when its parent ends.
func EndsWithParent(syscall.Signal) *syscall.SysProcAttr { return nil }

// InMemory returns false: only Linux says which folders are in memory.
func InMemory(string) (is, exists bool) { return false, true }
