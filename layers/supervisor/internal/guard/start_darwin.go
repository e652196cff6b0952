package guard

import "golang.org/x/sys/unix"

const zombie = 5

// startOf is when a process was started, in a unit of the system; unknown if it has ended.
func startOf(pid int) (started int64, known bool) {
	process, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(process.Proc.P_pid) != pid || process.Proc.P_stat == zombie {
		return 0, false
	}
	return process.Proc.P_starttime.Nano(), true
}
