package seccomp

import "golang.org/x/sys/unix"

var thisArchitecture = architecture{audit: unix.AUDIT_ARCH_AARCH64}
