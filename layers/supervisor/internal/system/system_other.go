//go:build !linux

// Package system has what is different on each operating system and has no other place.
package system

import "syscall"

// EndsWithParent are no attributes here: what is started with them ends by itself soon.
func EndsWithParent(syscall.Signal) *syscall.SysProcAttr { return nil }

// InMemory reports no folder as one in memory.
func InMemory(string) (is, exists bool) { return false, true }
