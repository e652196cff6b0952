package sandbox

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/headgate/headgate/layers/collector/internal/confine"
	"golang.org/x/sys/unix"
)

func attempt(what, argument string) (string, error) {
	switch what {
	case "read":
		content, err := os.ReadFile(argument)
		return string(content), err
	case "poll", "poll-and-spin":
		go poll(argument)
		if what == "poll-and-spin" {
			go func() {
				for {
				}
			}()
		}
		return "", nil
	case "list":
		entries, err := os.ReadDir(argument)
		return fmt.Sprint(entries), err
	case "write":
		return "", os.WriteFile(argument, []byte("x"), 0o600)
	case "trace":
		// A collector may leave anything in place of its trace.
		err := errors.Join(os.WriteFile("steps.0", []byte("a line\n"), 0o600), os.Symlink("/etc/passwd", "steps.1"),
			os.WriteFile("filler", make([]byte, argumentSize(argument)), 0o600))
		return strings.Join(os.Args[1:], " "), err
	case "connect":
		connection, err := net.DialTimeout("tcp", argument, time.Second)
		if err == nil {
			connection.Close()
		}
		return "", err
	case "environment":
		return fmt.Sprint(os.Environ()), nil
	case "variables":
		var told []string
		for _, variable := range os.Environ() {
			name, value, _ := strings.Cut(variable, "=")
			told = append(told, fmt.Sprintf("%s:%d:%x", name, len(value), sha256.Sum256([]byte(value)))[:len(name)+12])
		}
		return fmt.Sprint(told), nil
	case "tell":
		value := os.Getenv(argument)
		for range 3 {
			fmt.Fprintf(os.Stderr, "raw %s\nquoted %q\n", value, value)
		}
		return value, errors.New(value)
	case "user":
		return strconv.Itoa(os.Geteuid()), syscall.Setuid(0)
	case "spawn":
		return "", exec.Command(argument).Run()
	case "memory":
		held := make([][]byte, 0, 64)
		for range 64 {
			block := make([]byte, 64<<20)
			for i := 0; i < len(block); i += 4096 {
				block[i] = 1
			}
			held = append(held, block)
		}
		return strconv.Itoa(len(held)), nil
	case "execute":
		// Before the deadline: the last words of one that becomes another program.
		path, err := tinyProgram()
		if err != nil {
			return "", err
		}
		return argument, becoming(argument, path)
	case "fork":
		child, _, errno := syscall.RawSyscall(unix.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0)
		if errno == 0 && child == 0 {
			syscall.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
		}
		return argument, failed(errno)
	case "socket":
		kind, _ := strconv.Atoi(argument)
		_, err := unix.Socket(kind, unix.SOCK_STREAM, 0)
		if err != nil {
			_, err = unix.Socket(kind, unix.SOCK_DGRAM, 0)
		}
		return argument, err
	case "socketpair":
		_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		return "", err
	case "signal":
		process, _ := strconv.Atoi(argument)
		return argument, anyOf(
			unix.Kill(process, 0), unix.Tgkill(process, process, 0), unix.Kill(-1, 0),
			failed(raw(unix.SYS_PIDFD_OPEN, uintptr(process), 0, 0)), failed(raw(unix.SYS_TKILL, uintptr(process), 0, 0)),
			failed(raw(unix.SYS_RT_SIGQUEUEINFO, uintptr(process), 0, 0)),
			unix.Prlimit(process, unix.RLIMIT_NOFILE, nil, &unix.Rlimit{}),
		)
	case "spread":
		ended := make(chan error)
		for i := range 6 {
			go func() { ended <- os.WriteFile(fmt.Sprint(argument, i), make([]byte, 7<<20), 0o600) }()
		}
		return argument, anyOf(<-ended, <-ended, <-ended, <-ended, <-ended, <-ended)
	case "names":
		for i := range 1200 {
			if err := os.Mkdir(fmt.Sprint("name", i), 0o700); err != nil {
				return "", err
			}
		}
		return "made", nil
	case "unseen":
		return argument, writeUnseen(argument)
	case "fill":
		file, err := os.Create(argument)
		if err != nil {
			return "", err
		}
		defer file.Close()
		block := make([]byte, 1<<20)
		for range 500 {
			if _, err := file.Write(block); err != nil {
				return "", err
			}
			time.Sleep(5 * time.Millisecond)
		}
		return "filled", nil
	}
	return "", nil
}

func failed(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

func raw(number, a, b, c uintptr) syscall.Errno {
	_, _, errno := syscall.RawSyscall(number, a, b, c)
	return errno
}

// anyOf is nil if one of the attempts went well.
func anyOf(attempts ...error) error {
	for _, err := range attempts {
		if err == nil {
			return nil
		}
	}
	return attempts[0]
}

// tinyProgram writes a program that ends with status 42 wherever it can be written.
func tinyProgram() (string, error) {
	code, machine := []byte{0xb8, 60, 0, 0, 0, 0xbf, 42, 0, 0, 0, 0x0f, 0x05}, uint16(62)
	if runtime.GOARCH == "arm64" {
		code, machine = []byte{0xa8, 0x0b, 0x80, 0xd2, 0x40, 0x05, 0x80, 0xd2, 0x01, 0, 0, 0xd4}, 183
	}
	const base, headers = 0x10000, 64 + 56
	var image []byte
	image = append(image, 0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	for _, field := range []struct {
		size  int
		value uint64
	}{
		{2, 2}, {2, uint64(machine)}, {4, 1}, {8, base + headers}, {8, 64}, {8, 0}, {4, 0}, {2, 64}, {2, 56}, {2, 1}, {2, 0}, {2, 0}, {2, 0},
		{4, 1}, {4, 5}, {8, 0}, {8, base}, {8, base}, {8, headers + uint64(len(code))}, {8, headers + uint64(len(code))}, {8, 0x1000},
	} {
		for i := range field.size {
			image = append(image, byte(field.value>>(8*i)))
		}
	}
	path, err := filepath.Abs("tiny")
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, append(image, code...), 0o700)
}

// becoming tries to become a program. It returns only when that failed.
func becoming(how, path string) error {
	switch how {
	case "execve":
		return syscall.Exec(path, []string{path}, nil)
	case "execveat":
		descriptor, err := unix.Open(path, unix.O_PATH, 0)
		if err != nil {
			return err
		}
		return confine.Execute(descriptor, []string{path}, nil)
	case "execveat by path":
		name, err := unix.BytePtrFromString(path)
		if err != nil {
			return err
		}
		_, _, errno := syscall.RawSyscall6(unix.SYS_EXECVEAT, uintptr(0), uintptr(unsafe.Pointer(name)), 0, 0, 0, 0)
		return errno
	}
	return exec.Command(path).Run()
}

// writeUnseen tries to hold 16 MB where a look at the names and lengths of files does not find them.
func writeUnseen(how string) error {
	const size = 16 << 20
	switch how {
	case "in a file without a name":
		file, err := os.OpenFile(".", unix.O_TMPFILE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		return write(file, size)
	case "in a file whose name is gone":
		file, err := os.Create("gone")
		if err != nil {
			return err
		}
		defer file.Close()
		return anyOf(os.Remove("gone"), os.Rename("gone", ConfigFile))
	case "in memory as a file":
		descriptor, err := unix.MemfdCreate("unseen", 0)
		if err != nil {
			return err
		}
		return write(os.NewFile(uintptr(descriptor), "unseen"), size)
	case "in shared memory":
		return anyOf(
			func() error { _, err := unix.SysvShmGet(unix.IPC_PRIVATE, size, unix.IPC_CREAT|0o600); return err }(),
			func() error {
				_, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
				return err
			}(),
		)
	case "in /dev/shm":
		return os.WriteFile("/dev/shm/unseen", make([]byte, size), 0o600)
	case "beyond a file's end":
		file, err := os.Create("long")
		if err != nil {
			return err
		}
		return unix.Fallocate(int(file.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, size)
	case "in an attribute":
		return unix.Setxattr(".", "user.unseen", make([]byte, 4000), 0)
	}
	return nil
}

func write(file *os.File, size int) error {
	if file == nil {
		return os.ErrInvalid
	}
	_, err := file.Write(make([]byte, size))
	return err
}

// poll reads a file again and again, as a receiver of files does.
func poll(name string) {
	for {
		_, _ = os.ReadFile(name)
		time.Sleep(50 * time.Millisecond)
	}
}

func argumentSize(argument string) int {
	megabytes, err := strconv.Atoi(argument)
	if err != nil {
		return 0
	}
	return megabytes << 20
}
