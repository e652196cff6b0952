package identity

import "os"

// MachineID is the id that systemd or D-Bus gave this machine, "" if there is none.
func MachineID() string {
	content, _ := os.ReadFile("/etc/machine-id")
	return string(content)
}
