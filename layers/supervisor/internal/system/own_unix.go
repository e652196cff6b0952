//go:build unix

package system

import "os"

// Program is the name of a program's file.
func Program(name string) string { return name }

// Private keeps every other user out of a folder.
func Private(folder string) error { return os.Chmod(folder, 0o700) }

// Remove removes a file or an empty folder.
func Remove(path string) error { return os.Remove(path) }
