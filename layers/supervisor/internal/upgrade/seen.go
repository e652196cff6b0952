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
	versions := map[string]string{u.settings.Installed: u.settings.InstalledVersion}
	for id, known := range u.store.State.Known {
		versions[u.store.Path(id)] = known.Version
	}
	for _, child := range children() {
		for path, version := range versions {
			if runs(child, path) {
				return version
			}
		}
	}
	return u.version(u.store.State.Current)
}

func runs(pid, path string) bool {
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
