package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/klauspost/compress/zstd"
)

// source is where a collector is that the test runner's image does not have: a signed link to the compressed binary,
// and what it must be. Sizes are in bytes, SHA-256 in hex.
type source struct {
	URL          string `json:"url"`
	SHA256       string `json:"sha256"`
	Size         int64  `json:"size"`
	BinarySHA256 string `json:"binary_sha256"`
	BinarySize   int64  `json:"binary_size"`
}

const (
	largestCompressed = 250 << 20
	largestBinary     = 1 << 30
	// The largest window of zstd's levels up to 19 is 8 MB.
	largestWindow = 32 << 20
)

// errNotAnnounced is the error of a collector with another SHA-256.
var errNotAnnounced = errors.New("its SHA-256 is not the announced one")

// fetch writes the collector into a new folder, verified, and returns its path. Nothing is unpacked before the
// compressed binary is known to be the announced one, and nothing is left if it is not.
func (s *source) fetch(ctx context.Context, files *files) (binary string, err error) {
	if s.Size < 1 || s.Size > largestCompressed || s.BinarySize < 1 || s.BinarySize > largestBinary {
		return "", errors.New("its size is not announced, or too large")
	}
	packed, err := files.get(ctx, "it", s.URL, s.Size)
	if err != nil {
		return "", err
	}
	// The run needs the memory.
	defer debug.FreeOSMemory()
	digest := sha256.Sum256(packed)
	if int64(len(packed)) != s.Size || hex.EncodeToString(digest[:]) != s.SHA256 {
		return "", errNotAnnounced
	}
	folder, err := os.MkdirTemp("", "headgate-fetched-")
	if err != nil {
		return "", err
	}
	binary = filepath.Join(folder, "otelcol-contrib")
	if err := s.unpack(packed, binary); err != nil {
		return "", errors.Join(err, os.RemoveAll(folder))
	}
	return binary, nil
}

func (s *source) unpack(packed []byte, binary string) (err error) {
	reader, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderMaxWindow(largestWindow))
	if err != nil {
		return err
	}
	defer reader.Close()
	file, err := os.OpenFile(binary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o555)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	digest := sha256.New()
	size, err := io.Copy(io.MultiWriter(file, digest), io.LimitReader(reader, s.BinarySize+1))
	if err != nil {
		return fmt.Errorf("unpacking it: %w", err)
	}
	if size != s.BinarySize || hex.EncodeToString(digest.Sum(nil)) != s.BinarySHA256 {
		return errNotAnnounced
	}
	return nil
}
