package seccomp

import "golang.org/x/sys/unix"

var thisArchitecture = architecture{audit: unix.AUDIT_ARCH_X86_64, x32: true}
