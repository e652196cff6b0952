package system

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// Program is the name of a program's file.
func Program(name string) string { return name + ".exe" }

// Private keeps every other user out of a folder: the system and administrators have it.
func Private(folder string) error {
	descriptor, err := windows.SecurityDescriptorFromString("D:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)")
	if err != nil {
		return err
	}
	list, _, err := descriptor.DACL()
	if err != nil {
		return err
	}
	const what = windows.DACL_SECURITY_INFORMATION | windows.PROTECTED_DACL_SECURITY_INFORMATION
	return windows.SetNamedSecurityInfo(folder, windows.SE_FILE_OBJECT, what, nil, nil, list, nil)
}

// Remove removes a file or an empty folder. Windows keeps the file of a program that runs: it is moved away, and removed
// when the machine starts the next time.
func Remove(path string) error {
	err := os.Remove(path)
	if self, missing := os.Executable(); err == nil || missing != nil || !same(self, path) {
		return err
	}
	aside, err := os.CreateTemp("", "headgate-removed-*")
	if err != nil {
		return err
	}
	_ = aside.Close()
	if err := os.Rename(path, aside.Name()); err != nil {
		return err
	}
	name, err := windows.UTF16PtrFromString(aside.Name())
	if err != nil {
		return err
	}
	return windows.MoveFileEx(name, nil, windows.MOVEFILE_DELAY_UNTIL_REBOOT)
}

func same(path, as string) bool {
	here, err := os.Stat(path)
	if err != nil {
		return false
	}
	there, err := os.Stat(filepath.Clean(as))
	return err == nil && os.SameFile(here, there)
}
