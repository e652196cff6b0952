// Command mutation says what share of small mistakes in a package its own tests notice.
//
//	make -C layers/collector go-mutation PACKAGES="steps compare" MUTANTS=60 MINUTES=10
//	make -C layers/supervisor go-mutation PACKAGES="identity relay"
//
// To link the whole collector takes longer than the tests of a package, so all mutants are in one program, and a
// number in its environment says which mistake it makes. Each mutant meets the tests that reach it, alone.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"log"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

var (
	code    = flag.String("code", "github.com/headgate/headgate/layers/collector/internal/", "beginning of the packages' paths")
	in      = flag.String("in", ".", "folder of the module that links them")
	most    = flag.Int("mutants", 60, "how many of each package; 0 for all")
	minutes = flag.Float64("minutes", 10, "try no further ones of a package after so many")
	flags   = []string{"-trimpath", "-buildvcs=false", "-tags", "grpcnotrace"}
)

func main() {
	flag.Parse()
	log.SetFlags(0)
	for _, name := range flag.Args() {
		if err := score(name); err != nil {
			log.Fatalf("%s: %v", name, err)
		}
	}
}

// score prints how many mutants of a sample are noticed, and those that are not. The sample is always the same.
func score(name string) error {
	work, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	folder, mutants, err := rewrite(name, work)
	if err != nil {
		return err
	}
	program := filepath.Join(work, "tests")
	if _, err := run(*in, append([]string{"go", "test", "-c", "-vet=off", "-overlay", filepath.Join(work, "overlay.json"),
		"-o", program}, append(flags, *code+name)...)...); err != nil {
		return err
	}
	reached, seconds, err := reaching(program, folder, work)
	if err != nil {
		return err
	}
	rand.New(rand.NewSource(1)).Shuffle(len(mutants), func(i, j int) { mutants[i], mutants[j] = mutants[j], mutants[i] })
	if *most > 0 {
		mutants = mutants[:min(*most, len(mutants))]
	}
	ends := time.Now().Add(time.Duration(*minutes * float64(time.Minute)))
	tried, survivors := 0, []string{}
	for _, mutant := range mutants {
		if time.Now().After(ends) {
			break
		}
		tried++
		tests := reached[mutant.ID]
		limit := 10.0
		for _, test := range tests {
			limit += 5 * seconds[test]
		}
		if len(tests) == 0 || passes(program, folder, mutant.ID, tests, limit) {
			survivors = append(survivors, fmt.Sprintf("%s:%d: %s\n    %s (%d tests)",
				mutant.File, mutant.Line, mutant.Text, mutant.Mistake, len(tests)))
		}
	}
	noticed := tried - len(survivors)
	fmt.Printf("%s: %d of %d mutants are noticed, %d %%\n%s\n",
		name, noticed, tried, 100*noticed/max(1, tried), strings.Join(survivors, "\n"))
	return nil
}

// rewrite writes the package's sources with their mutants, and the overlay that has the compiler read them.
func rewrite(name, work string) (string, []Mutant, error) {
	listed, err := run(*in, append([]string{"go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles"},
		append(flags, *code+name)...)...)
	if err != nil {
		return "", nil, err
	}
	var last struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
	}
	exports := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(listed)); decoder.More(); {
		if err := decoder.Decode(&last); err != nil {
			return "", nil, err
		}
		exports[last.ImportPath] = last.Export
	}
	r := &rewriter{files: token.NewFileSet(), info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}}
	var parsed []*ast.File
	var sources []string
	for _, file := range last.GoFiles {
		source, err := os.ReadFile(filepath.Join(last.Dir, file))
		if err != nil {
			return "", nil, err
		}
		tree, err := parser.ParseFile(r.files, file, source, parser.SkipObjectResolution)
		if err != nil {
			return "", nil, err
		}
		parsed, sources = append(parsed, tree), append(sources, string(source))
	}
	exported := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	checker := types.Config{Importer: importer.ForCompiler(r.files, "gc", exported)}
	if _, err := checker.Check(last.ImportPath, r.files, parsed, r.info); err != nil {
		return "", nil, err
	}
	replaced := map[string]string{}
	write := func(name, text string) error {
		replaced[filepath.Join(last.Dir, name)] = filepath.Join(work, name)
		return os.WriteFile(filepath.Join(work, name), []byte(text), 0o600)
	}
	for n, tree := range parsed {
		if err := write(last.GoFiles[n], r.rewritten(tree, sources[n])); err != nil {
			return "", nil, err
		}
	}
	if err := write("mutated_switches.go", "package "+parsed[0].Name.Name+"\n"+switches); err != nil {
		return "", nil, err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", nil, err
	}
	return last.Dir, r.mutants, os.WriteFile(filepath.Join(work, "overlay.json"), overlay, 0o600)
}

// reaching returns the tests that reach each mutant, and the seconds that each test takes.
func reaching(program, folder, work string) (map[int][]string, map[string]float64, error) {
	listed, err := run(folder, program, "-test.list", "^(Test|Fuzz)")
	if err != nil {
		return nil, nil, err
	}
	reached, seconds := map[int][]string{}, map[string]float64{}
	for _, test := range strings.Fields(string(listed)) {
		file := filepath.Join(work, test)
		begun := time.Now()
		command := tested(context.Background(), program, folder, "HEADGATE_MUTANT_REACHED="+file, []string{test})
		if output, err := command.CombinedOutput(); err != nil {
			return nil, nil, fmt.Errorf("%s does not pass without a mutant: %w\n%s", test, err, output)
		}
		seconds[test] = time.Since(begun).Seconds()
		numbers, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			return nil, nil, err
		}
		for _, number := range strings.Fields(string(numbers)) {
			var id int
			if _, err := fmt.Sscan(number, &id); err != nil {
				return nil, nil, err
			}
			reached[id] = append(reached[id], test)
		}
	}
	return reached, seconds, nil
}

// passes reports whether the tests pass in time although the mistake is made.
func passes(program, folder string, id int, tests []string, seconds float64) bool {
	limited, cancel := context.WithTimeout(context.Background(), time.Duration(seconds*float64(time.Second)))
	defer cancel()
	return tested(limited, program, folder, fmt.Sprintf("HEADGATE_MUTANT=%d", id), tests).Run() == nil
}

func tested(limited context.Context, program, folder, variable string, tests []string) *exec.Cmd {
	command := exec.CommandContext(limited, program, "-test.failfast", "-test.run", "^("+strings.Join(tests, "|")+")$")
	command.Dir = folder
	command.Env = append(os.Environ(), variable)
	return command
}

func run(folder string, arguments ...string) ([]byte, error) {
	command := exec.Command(arguments[0], arguments[1:]...)
	command.Dir = folder
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOTOOLCHAIN=local", "GOWORK=off")
	var failure bytes.Buffer
	command.Stderr = &failure
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(arguments[:2], " "), err, failure.Bytes())
	}
	return output, nil
}
