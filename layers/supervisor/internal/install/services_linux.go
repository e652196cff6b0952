package install

import "errors"

func defaultRoot() string { return "/opt/headgate" }

func services() (manager, error) {
	return nil, errors.New("this installs on Windows and macOS; Linux has a script, which `headgate fleet install` names")
}
