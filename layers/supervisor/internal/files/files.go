// Package files reads and replaces the files of the storage folder. The collector runs as the same user, and with a
// configuration that says so it writes there: a file may be a pipe, a link, or larger than memory.
package files

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Read returns a regular file of up to `most` bytes. It follows no link and waits for no writer of a pipe.
func Read(path string, most int64) ([]byte, error) {
	file, err := openCarefully(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	stat, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !stat.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	content, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(content)) > most {
		return nil, fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return content, nil
}

// Replace writes a file atomically, readable for its owner only.
func Replace(path string, content []byte) error {
	part, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(part.Name()) }()
	_, err = part.Write(content)
	if err == nil {
		err = part.Sync()
	}
	if closing := part.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(part.Name(), path)
}

// Sync makes the names of a folder's files last, also through a power cut.
func Sync(folder string) error {
	opened, err := os.Open(folder)
	if err != nil {
		return err
	}
	err = opened.Sync()
	if closing := opened.Close(); err == nil {
		err = closing
	}
	return err
}
