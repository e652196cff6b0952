package identity

import (
	"context"
	"os/exec"
	"time"
)

// MachineID is the id of this machine's hardware, "" if it cannot be had.
func MachineID() string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	said, err := exec.CommandContext(ctx, "/usr/sbin/ioreg", "-rd1", "-c", "IOPlatformExpertDevice").Output()
	if err != nil {
		return ""
	}
	return platformUUID(string(said))
}
