package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	modulePath     = "github.com/headgate/headgate/layers/collector/version"
	sharedPath     = "github.com/headgate/headgate/layers/collector"
	generationPath = "github.com/headgate/headgate/layers/collector/generation"
	builderPath    = "go.opentelemetry.io/collector/cmd/builder"
)

// build makes a version's folder in `work`, which lies where the folder will be.
type build struct {
	module, work, version string
	whole                 *manifest
	unlisted, wholeOnly   bool
	// lacking are the modules that cannot be had, with the reason.
	lacking map[string]string
}

func (b *build) run() error {
	b.lacking = map[string]string{}
	for _, module := range b.whole.replacedByFolders() {
		b.lacking[module] = "the official build has its sources in a folder"
	}
	if err := b.download(); err != nil {
		return err
	}
	if err := b.requireWhole(); err != nil {
		return err
	}
	for {
		built, err := b.generate(b.work, b.lacking)
		if err != nil {
			return err
		}
		missing, err := b.fit(built)
		if err != nil {
			return err
		}
		if len(missing) == 0 {
			break
		}
		maps.Copy(b.lacking, missing)
		if err := b.requireWhole(); err != nil {
			return err
		}
	}
	if len(b.lacking) == 0 {
		if _, err := b.goCommand(b.work, "mod", "tidy"); err != nil {
			return err
		}
	}
	for _, module := range slices.Sorted(maps.Keys(b.lacking)) {
		log.Printf("lacks %s: %s", module, b.lacking[module])
	}
	entries := b.whole.entries()
	log.Printf("%s: %d of %d modules", b.version, len(entries)-len(b.lacking), len(entries))
	return b.writeFirst()
}

// requireWhole returns an error that names what is lacking, if nothing may be that a module proxy could serve.
func (b *build) requireWhole() error {
	if !b.wholeOnly {
		return nil
	}
	inFolders := b.whole.replacedByFolders()
	var lines []string
	for _, e := range b.whole.entries() {
		if reason, lacks := b.lacking[e.module]; lacks && !slices.Contains(inFolders, e.module) {
			lines = append(lines, fmt.Sprintf("  %s %s: %.100s", e.module, e.version, reason))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return fmt.Errorf("the module proxy does not serve %d of the %d modules of release %s:\n%s",
		len(lines), len(b.whole.entries()), b.version, strings.Join(lines, "\n"))
}

// writeFirst writes the package `first` of a version: a program with the components of versions/FIRST alone, which is
// there minutes before the whole one. What it lacks of the official release is what the whole one lacks, and all others.
func (b *build) writeFirst() error {
	text, err := os.ReadFile(filepath.Join(b.module, "versions", "FIRST"))
	if err != nil {
		return err
	}
	var wanted []string
	for _, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			wanted = append(wanted, "/"+line)
		}
	}
	lacking := maps.Clone(b.lacking)
	for _, e := range b.whole.entries() {
		if !slices.ContainsFunc(wanted, func(end string) bool { return strings.HasSuffix(e.module, end) }) {
			lacking[e.module] = "not in versions/FIRST"
		}
	}
	log.Printf("%s: %d modules in the first program", b.version, len(b.whole.entries())-len(lacking))
	_, err = b.generate(filepath.Join(b.work, "first"), lacking)
	return err
}

// lackingIn is what a version's folder lacks of its manifest: no source there imports it.
func lackingIn(folder string, whole *manifest) (map[string]string, error) {
	var imported string
	for _, name := range []string{"components.go", "settings.go"} {
		text, err := os.ReadFile(filepath.Join(folder, "distribution", name))
		if err != nil {
			return nil, err
		}
		imported += string(text)
	}
	lacking := map[string]string{}
	for _, e := range whole.entries() {
		if !strings.Contains(imported, strconv.Quote(e.module)) {
			lacking[e.module] = "the version lacks it"
		}
	}
	return lacking, nil
}

// download asks for every module, since a proxy may know of a version and not serve it.
func (b *build) download() error {
	arguments := []string{"mod", "download", "-json"}
	for _, e := range b.whole.entries() {
		if _, absent := b.lacking[e.module]; !absent {
			arguments = append(arguments, e.module+"@"+e.version)
		}
	}
	outside, err := os.MkdirTemp("", "regenerate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(outside)
	printed, failure := b.goCommand(outside, arguments...)
	decoder := json.NewDecoder(strings.NewReader(printed))
	served := 0
	for {
		var module struct{ Path, Error string }
		if err := decoder.Decode(&module); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return errors.Join(err, failure)
		}
		if module.Error == "" {
			served++
			continue
		}
		b.lacking[module.Path] = lastLine(module.Error)
	}
	if served == 0 {
		return fmt.Errorf("the module proxy serves none of the components: %w", failure)
	}
	return nil
}

// generate writes the sources of a program without the lacking modules to a folder of the version, by the builder of the
// same version. It returns the builder's go.mod, which names the components.
func (b *build) generate(folder string, lacking map[string]string) (string, error) {
	output := filepath.Join(b.work, ".built")
	configuration, err := yaml.Marshal(b.whole.without(lacking, output).all)
	if err != nil {
		return "", err
	}
	path := filepath.Join(b.work, ".builder.yaml")
	if err := os.WriteFile(path, configuration, 0o600); err != nil {
		return "", err
	}
	defer os.Remove(path)
	defer os.RemoveAll(output)
	// The builder writes a go.mod only if it may run `go mod tidy` on it, which asks for modules that only tests of others
	// need, so it is given another program to run.
	_, err = b.goCommand(b.module, "run", builderPath+"@v"+b.version,
		"--config", path, "--skip-compilation", "--skip-strict-versioning")
	if err != nil {
		return "", err
	}
	if err := b.writeSources(output, folder, lacking); err != nil {
		return "", err
	}
	built, err := os.ReadFile(filepath.Join(output, "go.mod"))
	return string(built), err
}

// fit completes the builder's go.mod with the newest generation that compiles with this version. It returns the
// components that need what is not served; if there are any, no generation is compiled yet.
func (b *build) fit(built string) (map[string]string, error) {
	generations, err := b.generations()
	if err != nil {
		return nil, err
	}
	var failures []error
	for _, name := range generations {
		if err := b.writeModule(built, name); err != nil {
			return nil, err
		}
		missing, err := b.resolve()
		if err == nil && len(missing) > 0 {
			return missing, nil
		}
		if err == nil {
			_, err = b.goCommand(b.work, "build", "-tags", "grpcnotrace", generationPath)
		}
		if err == nil {
			log.Printf("the API is that of generation %s", name)
			return nil, nil
		}
		failures = append(failures, fmt.Errorf("generation %s: %w", name, err))
	}
	return nil, fmt.Errorf("no generation fits, so generations/ needs a new one: %w", errors.Join(failures...))
}

// writeModule makes the version's go.mod of the builder's, with a generation; resolve completes it.
func (b *build) writeModule(built, generation string) error {
	module := moduleLine.ReplaceAllString(built, "module "+modulePath)
	module += fmt.Sprintf(
		"\nrequire (\n\t%s v0.0.0\n\t%s v0.0.0\n%[4]s)\n\nreplace (\n\t%[1]s => ../..\n\t%[2]s => %[3]s\n)\n",
		sharedPath, generationPath, "../../generations/"+generation, strings.Join(ownRequirements, ""))
	if err := os.WriteFile(filepath.Join(b.work, "go.mod"), []byte(module), 0o644); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(b.work, "go.sum"))
}

// ownRequirements are modules that the checking code needs and components may lack, in the oldest version that it works
// with. A version of the collector that needs a newer one gets that.
var ownRequirements = []string{"\tgithub.com/google/cel-go v0.26.1\n"}

// moduleLine is that of the builder's go.mod, with its comment.
var moduleLine = regexp.MustCompile(`(?m)\A(?://.*\n|\n)*module .*$`)

// generations are the generations of API, newest first.
func (b *build) generations() ([]string, error) {
	folders, err := os.ReadDir(filepath.Join(b.module, "generations"))
	var names []string
	for _, folder := range folders {
		names = append(names, folder.Name())
	}
	slices.SortFunc(names, func(a, b string) int { return slices.Compare(numbers(b), numbers(a)) })
	if err == nil && len(names) == 0 {
		err = errors.New("there are no generations")
	}
	return names, err
}

// numbers are the parts of a version.
func numbers(version string) []int {
	var parts []int
	for _, part := range strings.Split(version, ".") {
		number, _ := strconv.Atoi(part)
		parts = append(parts, number)
	}
	return parts
}

// resolve completes go.mod and go.sum with what the packages need, and returns the components that need what is not
// served.
func (b *build) resolve() (map[string]string, error) {
	printed, failure := b.goCommand(b.work, "list", "-e", "-deps", "-tags", "grpcnotrace",
		"-json=ImportPath,Error", ".", sharedPath+"/internal/...")
	decoder := json.NewDecoder(strings.NewReader(printed))
	missing := map[string]string{}
	for {
		var listed struct {
			ImportPath string
			Error      *struct {
				ImportStack []string
				Err         string
			}
		}
		if err := decoder.Decode(&listed); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, errors.Join(err, failure)
		}
		if listed.Error == nil {
			continue
		}
		needing := b.among(listed.Error.ImportStack)
		if needing == "" {
			return nil, fmt.Errorf("%s: %s (needed by %s)", listed.ImportPath, listed.Error.Err, listed.Error.ImportStack)
		}
		missing[needing] = "needs " + listed.ImportPath + ": " + lastLine(listed.Error.Err)
	}
	if len(missing) > 0 {
		return missing, nil
	}
	return missing, failure
}

// among is the component of the manifest through which something is imported.
func (b *build) among(stack []string) string {
	for _, e := range b.whole.entries() {
		for _, path := range stack {
			if path == e.module || strings.HasPrefix(path, e.module+"/") {
				return e.module
			}
		}
	}
	return ""
}

// goCommand runs a Go command and returns what it printed.
//
// Only here GONOSUMDB is set, if it may be. The committed go.sum has every hash, and the build verifies all of them with
// Go's defaults.
func (b *build) goCommand(folder string, arguments ...string) (string, error) {
	command := exec.Command("go", arguments...)
	command.Dir = folder
	command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOTOOLCHAIN=local", "CGO_ENABLED=0")
	if b.unlisted {
		command.Env = append(command.Env, "GONOSUMDB=*")
	}
	var printed, said bytes.Buffer
	command.Stdout, command.Stderr = &printed, &said
	if err := command.Run(); err != nil {
		return printed.String(), fmt.Errorf("go %s: %w\n%s", strings.Join(arguments[:min(len(arguments), 3)], " "), err, said.String())
	}
	return printed.String(), nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
