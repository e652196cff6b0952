package upgrade

import (
	"os"
	"path/filepath"
	"strings"
)

// Running is the version of the collector whose process runs, as the kernel tells: the program of a child of this
// process, and not what was to be started. Without a process it is the one that would be started, "" if that is not known.
func (u *Upgrades) Running() string {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.store == nil {
		return ""
	}
	if _, version, runs := u.process(); runs {
		return version
	}
	return u.version(u.store.State.Current)
}

// Environment is the value that a variable had when the collector's process was started, as the kernel tells, "" for none.
// It also reports whether there is such a process.
func (u *Upgrades) Environment(name string) (value string, runs bool) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.store == nil {
		return "", false
	}
	process, _, runs := u.process()
	if !runs {
		return "", false
	}
	content, err := os.ReadFile(filepath.Join("/proc", process, "environ"))
	if err != nil || len(content) == 0 {
		// It has ended meanwhile.
		return "", false
	}
	for _, variable := range strings.Split(string(content), "\x00") {
		if key, value, _ := strings.Cut(variable, "="); key == name {
			return value, true
		}
	}
	return "", true
}

// TellsEnvironments reports whether this machine tells the environment of processes, in that folder. Windows and macOS do
// not.
func TellsEnvironments(processes string) bool {
	content, err := os.ReadFile(filepath.Join(processes, "self", "environ"))
	return err == nil && len(content) > 0
}

// process is the child of this process that runs a configuration, and the version of its program.
func (u *Upgrades) process() (process, version string, runs bool) {
	versions := map[string]string{u.settings.Installed: u.settings.InstalledVersion}
	for id, known := range u.store.State.Known {
		versions[u.store.Path(id)] = known.Version
	}
	for _, child := range children() {
		for path, version := range versions {
			if isOfProgram(child, path) && hasConfig(child) {
				return child, version, true
			}
		}
	}
	return "", "", false
}

// hasConfig leaves out a process that only validates, or lists something.
func hasConfig(pid string) bool {
	content, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
	arguments := strings.Split(string(content), "\x00")
	return err == nil && len(arguments) > 1 && strings.HasPrefix(arguments[1], "-")
}

func isOfProgram(pid, path string) bool {
	program, err := os.Stat(filepath.Join("/proc", pid, "exe"))
	if err != nil {
		return false
	}
	file, err := os.Stat(path)
	return err == nil && os.SameFile(program, file)
}

func children() []string {
	var found []string
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, list := range lists {
		content, err := os.ReadFile(list)
		if err != nil {
			continue
		}
		found = append(found, strings.Fields(string(content))...)
	}
	return found
}
