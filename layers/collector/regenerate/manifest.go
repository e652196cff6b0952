package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// manifest is the builder's configuration. What this program does not look at stays as it is.
type manifest struct {
	all map[string]any
}

// entry is a module of a manifest. kind is that of operation.Absent.
type entry struct{ kind, module, version string }

var kinds = map[string]string{
	"extensions": "extension", "receivers": "receiver", "processors": "processor", "exporters": "exporter",
	"connectors": "connector", "providers": "provider", "converters": "converter",
}

func readManifest(text string) (*manifest, error) {
	m := &manifest{}
	if err := yaml.Unmarshal([]byte(text), &m.all); err != nil {
		return nil, fmt.Errorf("the manifest is not YAML: %w", err)
	}
	return m, nil
}

func (m *manifest) dist() map[string]any {
	dist, _ := m.all["dist"].(map[string]any)
	return dist
}

func (m *manifest) version() string { return fmt.Sprint(m.dist()["version"]) }

// entries are the components and providers, in the manifest's order within each section.
func (m *manifest) entries() []entry {
	var entries []entry
	for section, kind := range kinds {
		list, _ := m.all[section].([]any)
		for _, item := range list {
			entries = append(entries, newEntry(kind, item))
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.kind+a.module, b.kind+b.module) })
	return entries
}

func newEntry(kind string, item any) entry {
	fields, _ := item.(map[string]any)
	module, version, _ := strings.Cut(fmt.Sprint(fields["gomod"]), " ")
	return entry{kind, module, version}
}

// without is a copy without these modules, and without replacements by folders, which only the official repository has.
func (m *manifest) without(lacking map[string]string, output string) *manifest {
	all := make(map[string]any, len(m.all))
	for key, value := range m.all {
		list, isList := value.([]any)
		if isList {
			value = slices.DeleteFunc(slices.Clone(list), func(item any) bool {
				if key == "replaces" {
					return isFolder(fmt.Sprint(item))
				}
				_, lacks := lacking[newEntry("", item).module]
				return lacks
			})
		}
		all[key] = value
	}
	dist := make(map[string]any)
	for key, value := range m.dist() {
		dist[key] = value
	}
	dist["module"], dist["output_path"], dist["go"] = modulePath, output, "true"
	all["dist"] = dist
	return &manifest{all}
}

// replacedByFolders are the modules for which the official build has sources of its own.
func (m *manifest) replacedByFolders() []string {
	var modules []string
	list, _ := m.all["replaces"].([]any)
	for _, item := range list {
		if text := fmt.Sprint(item); isFolder(text) {
			modules = append(modules, strings.Fields(text)[0])
		}
	}
	return modules
}

func isFolder(replacement string) bool {
	_, by, _ := strings.Cut(replacement, "=> ")
	return strings.HasPrefix(by, ".") || path.IsAbs(by)
}
