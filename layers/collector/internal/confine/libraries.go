package confine

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Where the dynamic loader looks for libraries.
var libraryDirectories = []string{
	"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
	"/lib64", "/usr/lib64", "/lib", "/usr/lib",
}

// SharedLibraries returns the files that a dynamically linked binary loads: none for an official release.
func SharedLibraries(binary string) ([]string, error) {
	file, err := elf.Open(binary)
	if err != nil {
		return nil, fmt.Errorf("reading the collector: %w", err)
	}
	defer file.Close()
	var found []string
	for _, program := range file.Progs {
		if program.Type == elf.PT_INTERP {
			interpreter, err := io.ReadAll(program.Open())
			if err != nil {
				return nil, fmt.Errorf("reading the collector: %w", err)
			}
			found = append(found, string(bytes.TrimRight(interpreter, "\x00")))
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	names, err := file.ImportedLibraries()
	if err != nil {
		return nil, fmt.Errorf("reading the collector: %w", err)
	}
	for _, name := range names {
		for _, directory := range libraryDirectories {
			if path := filepath.Join(directory, name); exists(path) {
				found = append(found, path)
				break
			}
		}
	}
	return found, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
