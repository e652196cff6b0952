package install

import (
	"errors"
	"os"
)

func defaultRoot() string { return "/opt/headgate" }

func services() (manager, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("a service needs root; use sudo")
	}
	return launchd{folder: "/Library/LaunchDaemons", launchctl: "/bin/launchctl"}, nil
}
