package confine

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// restrictFiles limits a process that sees the machine's files to those it needs. A process with a root directory of
// its own does not need this.
func (p Plan) restrictFiles() error {
	if p.Chroot {
		return nil
	}
	const (
		// Everything that the first version of Landlock can restrict.
		all = unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1
		// What a collector may do in its folder: not create devices, pipes or sockets.
		own = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
			unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	)
	ruleset, handled, err := newRuleset(all)
	if err != nil {
		return err
	}
	defer unix.Close(ruleset)
	allowed := map[string]uint64{p.Folder: own}
	libraries, err := SharedLibraries(p.Collector)
	if err != nil {
		return err
	}
	for _, path := range append(libraries, p.Collector) {
		allowed[path] = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	}
	for _, path := range procSelf() {
		allowed[path] = unix.LANDLOCK_ACCESS_FS_READ_FILE
	}
	for path, access := range allowed {
		if err := allow(ruleset, path, access&handled); err != nil {
			return fmt.Errorf("allowing a path: %w", err)
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// newRuleset denies all that this machine's Landlock can deny, and at least `least`. It returns the denied file
// accesses.
func newRuleset(least uint64) (descriptor int, handled uint64, err error) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, 0, fmt.Errorf("Landlock is not available: %w", errno)
	}
	rules := unix.LandlockRulesetAttr{Access_fs: least}
	size := unsafe.Sizeof(rules.Access_fs)
	if version >= 2 {
		rules.Access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		rules.Access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 4 {
		rules.Access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		size = unsafe.Offsetof(rules.Scoped)
	}
	if version >= 5 {
		rules.Access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version >= 6 {
		rules.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size = unsafe.Sizeof(rules)
	}
	made, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&rules)), size, 0)
	if errno != 0 {
		return 0, 0, fmt.Errorf("Landlock is not available: %w", errno)
	}
	return int(made), rules.Access_fs, nil
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
		access &= unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(descriptor)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
