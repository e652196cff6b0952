package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// lookEvery is how often a collector that may be ended when idle is looked at.
const lookEvery = 40 * time.Millisecond

// throughAfter is how often a sample is opened until all of it is known to be read: a receiver of files looks at them
// again and again, and begins to look only when it has read what it found before.
const throughAfter = 3

// stillness notices that a collector has read its sample and has then done nothing for a time.
//
// It watches from outside, so it holds for every collector: the kernel tells when the sample is opened, records are seen
// in the files of the recorder, and a thread that runs, or that waits for a processor on a busy machine, is not idle.
type stillness struct {
	notify   int
	process  string
	after    time.Duration
	opened   int
	recorded int64
	since    time.Time
}

// watchSample begins to watch the sample of a collector that has just been started.
func watchSample(sample string, process int, after time.Duration) (*stillness, error) {
	notify, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("watching the sample: %w", err)
	}
	// Events that are equal would be told as one, without the closing between two openings.
	if _, err := unix.InotifyAddWatch(notify, sample, unix.IN_OPEN|unix.IN_ACCESS|unix.IN_CLOSE_NOWRITE); err != nil {
		return nil, errors.Join(fmt.Errorf("watching the sample: %w", err), unix.Close(notify))
	}
	return &stillness{notify: notify, process: fmt.Sprintf("/proc/%d", process), after: after, since: time.Now()}, nil
}

func (s *stillness) close() { _ = unix.Close(s.notify) }

// reached looks at the collector, and reports whether it has been idle for long enough.
func (s *stillness) reached(recorded int64) bool {
	through := s.opened >= throughAfter
	s.opened += s.openings()
	if !through || recorded != s.recorded || s.busy() {
		s.recorded, s.since = recorded, time.Now()
		return false
	}
	return time.Since(s.since) >= s.after
}

// openings returns how often the sample was opened since the last look.
func (s *stillness) openings() (count int) {
	events := make([]byte, 4096)
	for {
		size, err := unix.Read(s.notify, events)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || size <= 0 {
			return count
		}
		for at := 0; at+unix.SizeofInotifyEvent <= size; {
			event := (*unix.InotifyEvent)(unsafe.Pointer(&events[at]))
			if event.Mask&unix.IN_OPEN != 0 {
				count++
			}
			at += unix.SizeofInotifyEvent + int(event.Len)
		}
	}
}

// busy reports whether a thread of the collector runs, waits for a processor or for a disk. What cannot be read counts as
// busy.
func (s *stillness) busy() bool {
	threads, err := os.ReadDir(filepath.Join(s.process, "task"))
	if err != nil {
		return true
	}
	for _, thread := range threads {
		if _, err := strconv.Atoi(thread.Name()); err != nil {
			continue
		}
		status, err := os.ReadFile(filepath.Join(s.process, "task", thread.Name(), "stat"))
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
			continue
		}
		// The name of the thread, in parentheses, may contain anything.
		end := bytes.LastIndex(status, []byte(") "))
		if err != nil || end < 0 || end+2 >= len(status) {
			return true
		}
		if state := status[end+2]; state == 'R' || state == 'D' {
			return true
		}
	}
	return len(threads) == 0
}
