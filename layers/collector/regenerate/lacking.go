package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/format"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// lackingSource lists the components that a program without these modules lacks.
func (b *build) lackingSource(lacking map[string]string) ([]byte, error) {
	var text bytes.Buffer
	text.WriteString(mark + "package distribution\n\nimport \"" + sharedPath + "/internal/operation\"\n\n")
	text.WriteString("// Lacking are the components of the official release that this build does not have.\nvar Lacking = []operation.Absent{\n")
	for _, e := range b.whole.entries() {
		if _, lacks := lacking[e.module]; !lacks {
			continue
		}
		types, err := b.typesOf(e)
		if err != nil {
			return nil, err
		}
		for _, name := range types {
			fmt.Fprintf(&text, "\t{Kind: %q, Type: %q, Module: %q},\n", e.kind, name, e.module)
		}
	}
	text.WriteString("}\n")
	return format.Source(text.Bytes())
}

// typesOf are the names that a configuration may call a component that cannot be had: those of its module's
// metadata.yaml, of this version or else of another one that is here; if none is served, that of the module.
func (b *build) typesOf(e entry) ([]string, error) {
	versions := []string{e.version}
	folders, err := filepath.Glob(filepath.Join(b.module, "*", "*", "manifest.yaml"))
	if err != nil {
		return nil, err
	}
	slices.Reverse(folders)
	for _, file := range folders {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		other, err := readManifest(string(text))
		if err != nil {
			return nil, err
		}
		for _, same := range other.entries() {
			if same.module == e.module && same.version != e.version {
				versions = append(versions, same.version)
			}
		}
	}
	// What the first program leaves out is in the version's go.sum, which has modules that the checksum database has not.
	folder := b.module
	if _, lacks := b.lacking[e.module]; !lacks {
		folder = b.work
	}
	for _, version := range versions {
		// An error means that it is not served, too.
		printed, _ := b.goCommand(folder, "mod", "download", "-json", e.module+"@"+version)
		var downloaded struct{ Dir string }
		if json.Unmarshal([]byte(printed), &downloaded) != nil || downloaded.Dir == "" {
			continue
		}
		if types := typesIn(filepath.Join(downloaded.Dir, "metadata.yaml")); len(types) > 0 {
			return types, nil
		}
	}
	return []string{strings.TrimSuffix(path.Base(e.module), e.kind)}, nil
}

// typesIn are the type and the deprecated type in a component's metadata.
func typesIn(file string) []string {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	var metadata struct {
		Type           string `yaml:"type"`
		DeprecatedType string `yaml:"deprecated_type"`
	}
	if yaml.Unmarshal(text, &metadata) != nil || metadata.Type == "" {
		return nil
	}
	types := map[string]bool{metadata.Type: true}
	if metadata.DeprecatedType != "" {
		types[metadata.DeprecatedType] = true
	}
	return slices.Sorted(maps.Keys(types))
}
