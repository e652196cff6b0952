package main

import (
	"errors"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Modules whose types are decoded from configurations. Other modules are not read: they are most of the sources.
var readModules = []string{
	"go.opentelemetry.io/", "github.com/open-telemetry/", "github.com/DataDog/datadog-agent/",
	"github.com/prometheus/", "github.com/scalyr/dataset-go",
}

// extract reads the packages, several at once.
func extract(packages []goPackage) (*result, error) {
	licences := licences{}
	var wanted []goPackage
	for _, one := range packages {
		if isRead(one.module) && licences.allow(one.moduleFolder) {
			wanted = append(wanted, one)
		}
	}
	all := make([]*packageTexts, len(wanted))
	failures := make([]error, len(wanted))
	var group sync.WaitGroup
	free := make(chan struct{}, runtime.NumCPU())
	for i, one := range wanted {
		group.Add(1)
		free <- struct{}{}
		go func() {
			defer func() { <-free; group.Done() }()
			all[i], failures[i] = readPackage(one)
		}()
	}
	group.Wait()
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	return merge(all), nil
}

func isRead(module string) bool {
	for _, prefix := range readModules {
		if strings.HasPrefix(module, prefix) {
			return true
		}
	}
	return false
}

// licences tells of a module's folder whether its texts may be copied into the program: those under Apache-2.0.
type licences map[string]bool

func (l licences) allow(folder string) bool {
	allowed, known := l[folder]
	if !known {
		text, _ := os.ReadFile(filepath.Join(folder, "LICENSE"))
		allowed = strings.Contains(string(text), "Apache License") && strings.Contains(string(text), "Version 2.0")
		l[folder] = allowed
	}
	return allowed
}

// packageTexts is what one package says.
type packageTexts struct {
	path      string
	types     map[string]*typeTexts
	text      string // of the package
	component *component
}

func readPackage(one goPackage) (*packageTexts, error) {
	texts := &packageTexts{path: one.path, types: map[string]*typeTexts{}}
	if err := texts.readSources(one); err != nil {
		return nil, err
	}
	if len(texts.types) > 0 {
		texts.readGuides(one)
		if err := texts.readSchema(one.folder); err != nil {
			return nil, fmt.Errorf("%s: %w", one.path, err)
		}
	}
	// The types of a component's metrics and attributes are generated of its metadata.yaml.
	folder, isGenerated := strings.CutSuffix(one.folder, "/internal/metadata")
	declared, err := readMetadata(folder)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", one.path, err)
	}
	switch {
	case declared == nil:
	case isGenerated:
		texts.describeGenerated(declared)
	case declared.isComponent():
		texts.component = declared.component(folder, texts.text)
	}
	return texts, nil
}

// merge joins the packages and follows types that are declared as others.
func merge(all []*packageTexts) *result {
	types := map[string]*typeTexts{}
	for _, one := range all {
		for name, declared := range one.types {
			types[one.path+"."+name] = declared
		}
	}
	found := &result{Comments: map[string]string{}, Components: map[string]component{}}
	for _, one := range all {
		if one.component != nil {
			found.Components[one.path] = *one.component
		}
	}
	for key, declared := range types {
		fields := slices.DeleteFunc(slices.Clone(declared.resolved(types)), (*fieldText).isInternal)
		name := key[strings.LastIndex(key, ".")+1:]
		if !ast.IsExported(name) && !slices.ContainsFunc(fields, (*fieldText).isSetting) {
			continue
		}
		if declared.text != "" {
			found.Comments[key] = declared.text
		}
		for _, one := range fields {
			found.count(one)
			if one.text != "" {
				found.Comments[key+"."+one.path] = one.text
			}
		}
	}
	return found
}

func (f *fieldText) isInternal() bool {
	return !ast.IsExported(f.path[strings.LastIndex(f.path, ".")+1:])
}

func (f *fieldText) isSetting() bool { return f.setting != "" || f.isSquashed }
