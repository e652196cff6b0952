package programs

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/headgate/headgate/layers/supervisor/internal/system"
)

const (
	// stalled ends a download from which nothing arrives any more; slowest bounds a whole one, below the fifteen minutes
	// after which a rollout counts the host as failed.
	stalled = time.Minute
	slowest = 14 * time.Minute
	// mostRedirects is one more than the service needs, which sends a host to a bucket.
	mostRedirects = 2
	// spare is what has to be left free for the collector's queues and the supervisor's own files, in bytes.
	spare = 64 << 20
)

var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// Download writes the target's program to the file, and verifies what arrives and what is written. Nothing of a program
// is run here.
func Download(ctx context.Context, address string, target Target, file *os.File) error {
	if err := room(file, target.Size); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, slowest, fmt.Errorf("it did not arrive within %.0f minutes", slowest.Minutes()))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	// The bytes as they were published: the client must not unpack them.
	request.Header.Set("Accept-Encoding", "identity")
	// No header has this host's token: the link alone is enough, and it leads to another server.
	client := &http.Client{CheckRedirect: Redirect, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: stalled, ForceAttemptHTTP2: true,
	}}
	defer client.CloseIdleConnections()
	answer, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("fetch it: %w", withoutLink(err))
	}
	defer func() { _ = answer.Body.Close() }()
	switch {
	case answer.StatusCode == http.StatusGone || answer.StatusCode == http.StatusForbidden:
		return fmt.Errorf("the link to it is not valid any more (%s)", answer.Status)
	case answer.StatusCode == http.StatusNotFound:
		return errors.New("it is not published any more; start the rollout again")
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("the server answers %s", answer.Status)
	}
	body, end := arriving(answer.Body, cancel)
	defer end()
	return write(body, target, file)
}

// write unpacks what arrives into the file, and compares both with the target.
func write(body io.Reader, target Target, file *os.File) error {
	packed, unpacked := sha256.New(), sha256.New()
	// One byte more than there are shows that there are too many.
	read := io.TeeReader(io.LimitReader(body, largest+1), packed)
	content := read
	var corrupt error
	if target.Gzip {
		zipped, err := gzip.NewReader(read)
		if err != nil {
			corrupt, content = err, strings.NewReader("")
		} else {
			content = zipped
		}
	}
	written, err := io.Copy(io.MultiWriter(file, unpacked), io.LimitReader(content, target.Size+1))
	var full *os.PathError
	switch {
	case errors.As(err, &full):
		return fmt.Errorf("write it: %w", err)
	case err != nil && !target.Gzip:
		return fmt.Errorf("it arrives incomplete: %w", err)
	case err != nil:
		corrupt = err
	}
	// The rest, so that the hash is of all that was sent.
	if _, err := io.Copy(io.Discard, read); err != nil {
		return fmt.Errorf("it arrives incomplete: %w", err)
	}
	if err := same(packed, target.SHA256, "what arrives"); err != nil {
		return err
	}
	if corrupt != nil {
		return fmt.Errorf("unpack it: %w", corrupt)
	}
	if written != target.Size {
		return fmt.Errorf("it has another size than the %d bytes that were published", target.Size)
	}
	if err := same(unpacked, target.BinarySHA256, "the program"); err != nil {
		return err
	}
	return file.Sync()
}

func same(seen hash.Hash, want, what string) error {
	if got := hex.EncodeToString(seen.Sum(nil)); got != want {
		return fmt.Errorf("%s is not what was published: its SHA-256 is %s, not %s", what, got, want)
	}
	return nil
}

// Redirect follows to no server without TLS from one with it.
func Redirect(next *http.Request, before []*http.Request) error {
	if len(before) > mostRedirects {
		return errors.New("it is redirected too often")
	}
	if before[0].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return errors.New("it is redirected to a server without TLS")
	}
	return nil
}

// withoutLink is the error without the address, which is a link that grants something.
func withoutLink(err error) error {
	cause := err
	for unwrapped := errors.Unwrap(cause); unwrapped != nil; unwrapped = errors.Unwrap(cause) {
		cause = unwrapped
		if _, operation := cause.(interface{ Timeout() bool }); operation {
			break
		}
	}
	return cause
}

// arriving is a body that ends the download when nothing has come for a while.
func arriving(body io.Reader, cancel context.CancelFunc) (io.Reader, func()) {
	timer := time.AfterFunc(stalled, cancel)
	return reading(func(buffer []byte) (int, error) {
		n, err := body.Read(buffer)
		timer.Reset(stalled)
		return n, err
	}), func() { timer.Stop() }
}

type reading func([]byte) (int, error)

func (r reading) Read(buffer []byte) (int, error) { return r(buffer) }

// room refuses to fill the disk, on which the collector's queues are as well.
func room(file *os.File, size int64) error {
	free, err := system.Free(file)
	if err != nil {
		return fmt.Errorf("look for free space: %w", err)
	}
	if free < size+spare {
		return fmt.Errorf("the disk is full: it needs %d MB in %s beside %d MB to spare, and %d MB are free",
			size>>20, file.Name(), spare>>20, free>>20)
	}
	return nil
}

// fits refuses a program for another processor.
func fits(path string) error {
	program, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("it is not a program: %w", err)
	}
	defer func() { _ = program.Close() }()
	if want, known := machines[runtime.GOARCH]; known && program.Machine != want {
		return fmt.Errorf("it is for another processor, %s, and this host has %s", program.Machine, want)
	}
	return nil
}
