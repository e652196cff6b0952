package confine

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// carryOut confines this process and turns it into the collector. It returns only if a step failed.
func (p Plan) carryOut() error {
	program, err := unix.Open(p.Collector, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening the collector: %w", err)
	}
	steps := []struct {
		name string
		do   func() error
	}{
		{"limiting resources", p.limitResources},
		{"mounting the run's folder", p.mountFolder},
		{"filling the run's folder", p.fillFolder},
		{"changing the root directory", p.changeRoot},
		{"giving up privileges", p.giveUpPrivileges},
		{"restricting the file system", p.restrictFiles},
		{"filtering system calls", filterSystemCalls},
		{"allowing one program", allowOneProgram},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return fmt.Errorf("starting the collector: %w", Execute(program, p.Arguments, p.Environment))
}

func (p Plan) limitResources() error {
	limits := map[int]uint64{
		unix.RLIMIT_CORE:   0,
		unix.RLIMIT_FSIZE:  p.Disk,
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

// mountFolder mounts a file system in memory at the run's folder, which counts all space used, also by unlinked files
// and beyond a file's end. Everything else that the collector sees becomes read-only. The folder's descriptor is passed
// to the sandbox command, which cannot reach it by path, least of all when this process has ended.
func (p Plan) mountFolder() error {
	if !p.Mount {
		return nil
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount(p.Root, p.Root, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	// Some room above the limits, so that exceeding them can be noticed.
	options := fmt.Sprintf("mode=700,size=%d,nr_inodes=%d", p.Disk+OverDisk, p.Names+OverNames)
	if p.User != 0 {
		options += fmt.Sprintf(",uid=%d,gid=%d", p.User, p.User)
	}
	const plain = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if err := unix.Mount("headgate-run", p.Folder, "tmpfs", plain, options); err != nil {
		return err
	}
	var above unix.Statfs_t
	if err := unix.Statfs(p.Root, &above); err != nil {
		return err
	}
	// Without root on the machine, a remount must repeat the restrictions that the mount already has.
	const locked = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC | unix.MS_NOATIME | unix.MS_NODIRATIME | unix.MS_RELATIME
	flags := uintptr(above.Flags)&locked | unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV
	if err := unix.Mount("", p.Root, "", flags, ""); err != nil {
		return fmt.Errorf("read-only: %w", err)
	}
	folder, err := unix.Open(p.Folder, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(folder)
	return unix.Sendmsg(statusDescriptor, []byte(FolderMessage), unix.UnixRights(folder), nil, 0)
}

// fillFolder writes the run's files.
func (p Plan) fillFolder() error {
	for name, content := range p.Files {
		path := filepath.Join(p.Folder, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return err
		}
		if p.User == 0 {
			continue
		}
		if err := os.Chown(path, p.User, p.User); err != nil {
			return err
		}
	}
	return nil
}

func (p Plan) changeRoot() error {
	if !p.Chroot {
		return unix.Chdir(p.Folder)
	}
	if err := unix.Chroot(p.Root); err != nil {
		return err
	}
	return unix.Chdir("/run")
}

func (p Plan) giveUpPrivileges() error {
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
		// Root in the namespace must not give the executed program any capability.
		const noRoot, noRootLocked = 1 << 0, 1 << 1
		if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot|noRootLocked, 0, 0, 0); err != nil {
			return err
		}
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}
