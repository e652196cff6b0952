package sandbox

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// carryOut confines this process and makes it the collector. It returns only when a step failed.
func (p plan) carryOut() error {
	program, err := unix.Open(p.Collector, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening the collector: %w", err)
	}
	steps := []struct {
		name string
		do   func() error
	}{
		{"limiting resources", p.limitResources},
		{"changing the root directory", p.changeRoot},
		{"giving up privileges", p.giveUpPrivileges},
		{"restricting the file system", p.restrictFiles},
		{"filtering system calls", filterSystemCalls},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return fmt.Errorf("starting the collector: %w", execute(program, p.Arguments))
}

func (p plan) limitResources() error {
	limits := map[int]uint64{
		unix.RLIMIT_CORE:   0,
		unix.RLIMIT_FSIZE:  p.File,
		unix.RLIMIT_NOFILE: 1024,
		unix.RLIMIT_NPROC:  p.Processes,
		// Not the address space: Go reserves gigabytes of it that it never touches.
		unix.RLIMIT_DATA: p.Data,
		// The C library gives every thread a stack of this size, which counts as data.
		unix.RLIMIT_STACK: 1 << 20,
	}
	for resource, limit := range limits {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			return err
		}
	}
	return nil
}

func (p plan) changeRoot() error {
	if !p.Chroot {
		return unix.Chdir(p.Folder)
	}
	if err := unix.Chroot(p.Root); err != nil {
		return err
	}
	return unix.Chdir("/run")
}

func (p plan) giveUpPrivileges() error {
	if p.User != 0 {
		if err := syscall.Setgroups(nil); err != nil {
			return err
		}
		if err := syscall.Setresgid(p.User, p.User, p.User); err != nil {
			return err
		}
		if err := syscall.Setresuid(p.User, p.User, p.User); err != nil {
			return err
		}
	}
	if p.UserNamespace {
		// Being root in the namespace is to give nothing to the program that is executed.
		const noRoot, noRootLocked = 1 << 0, 1 << 1
		if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot|noRootLocked, 0, 0, 0); err != nil {
			return err
		}
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}

// restrictFiles holds a process that sees the machine's files to those it needs. One with a root of its own needs no
// such rule.
func (p plan) restrictFiles() error {
	if p.Chroot {
		return nil
	}
	const (
		read = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
		// Everything that the first version of Landlock can restrict.
		all = unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1
	)
	ruleset := unix.LandlockRulesetAttr{Access_fs: all}
	descriptor, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET,
		uintptr(unsafe.Pointer(&ruleset)), unsafe.Sizeof(ruleset), 0)
	if errno == unix.E2BIG || errno == unix.EINVAL {
		// An older kernel knows only the structure's first member.
		descriptor, _, errno = unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET,
			uintptr(unsafe.Pointer(&ruleset)), unsafe.Sizeof(ruleset.Access_fs), 0)
	}
	if errno != 0 {
		return fmt.Errorf("Landlock is not to be had: %w", errno)
	}
	defer unix.Close(int(descriptor))
	allowed := map[string]uint64{p.Folder: all &^ unix.LANDLOCK_ACCESS_FS_EXECUTE}
	libraries, err := sharedLibraries(p.Collector)
	if err != nil {
		return err
	}
	for _, path := range append(libraries, p.Collector) {
		allowed[path] = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	}
	for _, path := range procSelf() {
		allowed[path] = read
	}
	for path, access := range allowed {
		if err := allow(int(descriptor), path, access); err != nil {
			return fmt.Errorf("allowing a path: %w", err)
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, descriptor, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

func allow(ruleset int, path string, access uint64) error {
	descriptor, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(descriptor)
	var status unix.Stat_t
	if err := unix.Fstat(descriptor, &status); err != nil {
		return err
	}
	if status.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(descriptor)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// execute becomes the program behind a descriptor, with an empty environment. By descriptor, because by path there is
// none in the root directory that this process has now.
func execute(program int, arguments []string) error {
	empty, err := unix.BytePtrFromString("")
	if err != nil {
		return err
	}
	argv, err := syscall.SlicePtrFromStrings(arguments)
	if err != nil {
		return err
	}
	environment := []*byte{nil}
	_, _, errno := unix.Syscall6(unix.SYS_EXECVEAT, uintptr(program), uintptr(unsafe.Pointer(empty)),
		uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&environment[0])), unix.AT_EMPTY_PATH, 0)
	return errno
}
