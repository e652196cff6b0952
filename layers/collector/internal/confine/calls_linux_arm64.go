package confine

import "golang.org/x/sys/unix"

var neverHere = []uint32{unix.SYS_RENAMEAT}

var openCalls = map[int][]uint32{2: {unix.SYS_OPENAT}}
