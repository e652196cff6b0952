package ottlref

import (
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/linked"
	"github.com/headgate/headgate/layers/collector/internal/lint"
	"github.com/headgate/headgate/layers/collector/internal/vocabulary"
)

const ottlModule = "github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl"

// literals are the texts in the Go sources of folders, without tests.
func literals(t *testing.T, folders ...string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := goparser.ParseFile(token.NewFileSet(), file, nil, goparser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(node ast.Node) bool {
				if literal, is := node.(*ast.BasicLit); is && literal.Kind == token.STRING {
					text, err := strconv.Unquote(literal.Value)
					if err != nil {
						t.Fatal(err)
					}
					found[text] = true
				}
				return true
			})
		}
	}
	return found
}

// contextsHere are the contexts of the linked pkg/ottl, with the folders of their sources.
func contextsHere(t *testing.T) map[string][]string {
	t.Helper()
	contexts := filepath.Join(linked.ModuleFolder(t, ottlModule), "contexts")
	folders, err := filepath.Glob(filepath.Join(contexts, "ottl*"))
	if err != nil || len(folders) < 8 {
		t.Fatal(folders, err)
	}
	here := map[string][]string{}
	for _, folder := range folders {
		name := strings.TrimPrefix(filepath.Base(folder), "ottl")
		here[name] = []string{folder, filepath.Join(contexts, "internal/ctx"+name), filepath.Join(contexts, "internal/ctxcache")}
	}
	return here
}

var segment = regexp.MustCompile(`^[a-z][a-z_]*$`)

// keywords are words that are values of their own.
var keywords = []string{"nil", "true", "false"}

// accepts reports whether OTTL has a path in a context.
func accepts(context, path string) bool {
	return lint.Parse(context, lint.ValueExpression, path) == nil
}

// TestEveryPathOfAContextIsKnown asks the context for every path that the names in its sources make: up to two of them,
// or as many as a known path of the context has.
func TestEveryPathOfAContextIsKnown(t *testing.T) {
	for context, folders := range contextsHere(t) {
		known := map[string]bool{}
		for _, path := range vocabulary.Paths[context] {
			known[path.Path] = true
		}
		var names []string
		for text := range literals(t, folders...) {
			// What begins with the name of a context is a path of that one.
			_, other := vocabulary.Paths[text]
			if !other && segment.MatchString(text) && !slices.Contains(keywords, text) {
				names = append(names, text)
			}
		}
		if len(names) < len(vocabulary.Paths[context])/3 {
			t.Errorf("%s: only %d names in its sources", context, len(names))
		}
		tried, accepted := 0, map[string]bool{}
		var try func(path string, depth int)
		try = func(path string, depth int) {
			for _, text := range []string{path, path + `[""]`} {
				if tried++; accepts(context, text) {
					accepted[text] = true
					if !known[text] {
						t.Errorf("%s: %s is not in the table", context, text)
					}
				}
			}
			if depth > 1 {
				for _, next := range names {
					try(path+"."+next, depth-1)
				}
			}
		}
		depth := 2
		for path := range known {
			depth = max(depth, strings.Count(path, ".")+1)
		}
		for _, name := range names {
			try(name, depth)
		}
		t.Logf("%s: %d names, %d paths tried, %d accepted", context, len(names), tried, len(accepted))
	}
}

// ofOtherVersions are paths of the table that a version lacks. Each is in another one.
var ofOtherVersions = map[string][]string{
	"profile": {"comment_string_indices"},
	"span":    {"flags"},
}

func TestEveryPathOfTheTableIsInSomeVersion(t *testing.T) {
	for context := range contextsHere(t) {
		for _, path := range vocabulary.Paths[context] {
			if !accepts(context, path.Path) && !slices.Contains(ofOtherVersions[context], path.Path) {
				t.Errorf("%s: %s is not a path", context, path.Path)
			}
			if path.Description == "" || path.Type == "" {
				t.Errorf("%s: %+v says too little", context, path)
			}
		}
	}
}

var documentedPath = regexp.MustCompile(`(?m)^\|\s*([a-z_.]+(?:\\?\[""\\?\])?)\s*\|`)

func TestEveryDocumentedPathThatAContextAcceptsIsTold(t *testing.T) {
	told := map[string]map[string]bool{}
	for _, context := range []string{"resource", "scope", "log", "span", "spanevent", "metric", "datapoint", "profile"} {
		told[context] = map[string]bool{}
		for _, path := range reference(t, "transform", context).Paths {
			told[context][path.Path] = true
		}
	}
	checked := 0
	for context, folders := range contextsHere(t) {
		readme, err := os.ReadFile(filepath.Join(folders[0], "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range documentedPath.FindAllStringSubmatch(string(readme), -1) {
			path := strings.TrimPrefix(strings.ReplaceAll(match[1], `\`, ""), context+".")
			if told[context] != nil && accepts(context, path) {
				if checked++; !told[context][path] {
					t.Errorf("%s: %s is not told", context, path)
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d paths are documented", checked)
	}
}

func TestTheEnumsAreThoseOfTheSources(t *testing.T) {
	known := map[string]bool{}
	for _, enum := range vocabulary.Enums {
		known[enum.Name] = true
	}
	shape := regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$`)
	found := 0
	for context, folders := range contextsHere(t) {
		for text := range literals(t, folders[1]) {
			if shape.MatchString(text) && accepts(context, text) {
				if found++; !known[text] {
					t.Errorf("%s: %s is not in the table", context, text)
				}
			}
		}
	}
	if found < len(vocabulary.Enums) {
		t.Errorf("the sources have %d enums, the table %d", found, len(vocabulary.Enums))
	}
}

// functionNames are the functions that the sources of components and pkg/ottl make.
func functionNames(t *testing.T) []string {
	t.Helper()
	const contrib = "github.com/open-telemetry/opentelemetry-collector-contrib/"
	packages := []string{ottlModule + "/ottlfuncs", contrib + "internal/filter/filterottl"}
	list, _ := ask[*List](t, Request{})
	for _, one := range list.Components {
		name := strings.ReplaceAll(one.Component, "_", "") + one.Kind
		packages = append(packages, contrib+one.Kind+"/"+name+"/...")
	}
	folders := strings.Split(linked.List(t, append([]string{"-f", "{{.Dir}}"}, packages...)...), "\n")
	made := regexp.MustCompile(`ottl\.NewFactory\(\s*(?:"(\w+)"|(\w+))`)
	var names []string
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range made.FindAllStringSubmatch(string(source), -1) {
				name := match[1]
				if constant := match[2]; constant != "" {
					value := regexp.MustCompile(`\b` + constant + `\s*=\s*"(\w+)"`).FindStringSubmatch(string(source))
					if value == nil {
						continue // in a helper, which is given the name
					}
					name = value[1]
				}
				if !strings.HasSuffix(file, "_test.go") {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestEveryFunctionOfTheSourcesIsKnown(t *testing.T) {
	known, names := knownFunctions(), functionNames(t)
	for _, name := range names {
		if _, is := known[name]; !is {
			t.Errorf("%s is in the sources, and not asked for", name)
		}
	}
	if len(names) < 100 {
		t.Errorf("the sources have only %d functions", len(names))
	}
}

func TestEveryFunctionIsDescribed(t *testing.T) {
	for name, function := range knownFunctions() {
		if function.Description == "" {
			t.Errorf("%s has no description", name)
		}
	}
}

func TestEveryParameterHasATypeOfOTTL(t *testing.T) {
	types := slices.Collect(maps.Values(argumentTypes))
	types = append(types, "literal bytes")
	for name, function := range knownFunctions() {
		for _, parameter := range function.Parameters {
			plain := parameter.Type
			for strings.HasPrefix(plain, "list of ") {
				plain = strings.TrimPrefix(plain, "list of ")
			}
			if !slices.Contains(types, plain) {
				t.Errorf("%s: %s is a %s", name, parameter.Name, parameter.Type)
			}
		}
	}
}

// unnameable are the functions with a field that no spelling of a name leads the parser to, as it makes Uri of uri.
var unnameable = []string{"CommunityID", "URL"}

func TestAParameterIsGivenByItsName(t *testing.T) {
	for name, function := range knownFunctions() {
		if len(function.Parameters) == 0 {
			continue
		}
		var arguments []string
		for _, parameter := range function.Parameters {
			arguments = append(arguments, fmt.Sprintf(`%s="a"`, parameter.Name))
		}
		call := name + "(" + strings.Join(arguments, ", ") + ")"
		refusal := lint.Parse("log", lint.Statement, call)
		if function.Kind == "converter" {
			refusal = lint.Parse("log", lint.Condition, call+" == nil")
		}
		wrong := regexp.MustCompile("no such parameter|has invalid syntax").MatchString(fmt.Sprint(refusal))
		if wrong != slices.Contains(unnameable, name) {
			t.Errorf("%s: %v", call, refusal)
		}
	}
}
