package lint

import (
	"context"
	"errors"
	goparser "go/parser"
	gotoken "go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/linked"
	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/pipeline/xpipeline"
)

// importsOf are the packages that a Go file imports.
func importsOf(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := goparser.ParseFile(gotoken.NewFileSet(), file, nil, goparser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, spec := range parsed.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

var componentType = regexp.MustCompile(`component\.MustNewType\("(\w+)"\)`)

// componentsWithOTTL lists the components of the distribution whose package depends on pkg/ottl, by the Go tool.
func componentsWithOTTL(t *testing.T) []string {
	t.Helper()
	arguments := []string{"-f", "{{.ImportPath}}\t{{.Dir}}\t{{join .Deps \" \"}}"}
	for _, path := range importsOf(t, filepath.Join(linked.VersionFolder, "distribution/components.go")) {
		for _, section := range source.Sections {
			if strings.Contains(path, "/"+strings.TrimSuffix(section, "s")+"/") {
				arguments = append(arguments, path)
			}
		}
	}
	var found []string
	for _, line := range strings.Split(linked.List(t, arguments...), "\n") {
		parts := strings.Split(line, "\t")
		if !slices.Contains(strings.Fields(parts[2]), ottlModule) {
			continue
		}
		status, err := os.ReadFile(filepath.Join(parts[1], "internal/metadata/generated_status.go"))
		if err != nil {
			t.Fatal(err)
		}
		section := regexp.MustCompile(`/(\w+)/\w+$`).FindStringSubmatch(parts[0])[1] + "s"
		found = append(found, section+"::"+componentType.FindStringSubmatch(string(status))[1])
	}
	return found
}

func TestEveryLinkedComponentThatDependsOnOTTLIsKnown(t *testing.T) {
	var known []string
	for _, c := range ottlComponentsHere(t) {
		known = append(known, c.id())
	}
	here := componentsWithOTTL(t)
	slices.Sort(known)
	slices.Sort(here)

	if !slices.Equal(known, here) {
		t.Errorf("the table has %q, the linked components that depend on pkg/ottl are %q", known, here)
	}
}

// ottlComponentsHere are the components of the table that this build has, under the names that they have here.
func ottlComponentsHere(t *testing.T) []ottlComponent {
	t.Helper()
	env := collector()
	factories, err := env.Factories()
	if err != nil {
		t.Fatal(err)
	}
	var here []ottlComponent
	for _, c := range ottlComponents {
		if _, lacks := env.Lacks(c.section, component.MustNewType(c.kind)); lacks {
			continue
		}
		factory := factoryOf(factories, c)
		if factory == nil {
			t.Errorf("%s is neither in this build nor in the list of what it lacks", c.id())
			continue
		}
		c.kind = factory.Type().String()
		here = append(here, c)
	}
	return here
}

// inGroups are lists of expressions that are made groups before they are decoded.
var inGroups = regexp.MustCompile(`^\w+_(statements|conditions)\.\[\]$`)

// declaredHere reports whether this version's component has the setting that a field is in.
func declaredHere(t *testing.T, c ottlComponent, field ottlField) bool {
	t.Helper()
	factories, err := collector().Factories()
	if err != nil {
		t.Fatal(err)
	}
	return declares(reflect.TypeOf(factoryOf(factories, c).CreateDefaultConfig()), field.pattern[0])
}

// reaches reports whether a text in the field gets to the OTTL parser.
func reaches(t *testing.T, c ottlComponent, pattern []string) bool {
	t.Helper()
	factories, err := collector().Factories()
	if err != nil {
		t.Fatal(err)
	}
	linter := &linter{ctx: context.Background(), factories: factories}
	for _, signal := range []pipeline.Signal{
		{}, pipeline.SignalTraces, pipeline.SignalMetrics, pipeline.SignalLogs, xpipeline.SignalProfiles,
	} {
		_, connecting := factories.Connectors[factoryOf(factories, c).Type()]
		if connecting && signal != (pipeline.Signal{}) && signal != pipeline.SignalLogs {
			continue
		}
		e := &expression{field: ottlField{pattern: pattern, create: signal}, resolved: "$$ no OTTL $$"}
		for _, part := range pattern {
			switch part {
			case "[]":
				e.steps = append(e.steps, step{})
			default:
				e.steps = append(e.steps, step{key: part})
			}
		}
		var syntax syntaxError
		if errors.As(linter.probe(c, []*expression{e}), &syntax) {
			return true
		}
	}
	return false
}

func TestEveryFieldOfTheTableReachesTheParser(t *testing.T) {
	for _, c := range ottlComponentsHere(t) {
		for _, field := range c.fields {
			if declaredHere(t, c, field) && !reaches(t, c, field.pattern) {
				t.Errorf("%s: %s does not reach the parser", c.id(), strings.Join(field.pattern, "."))
			}
		}
	}
}

func TestEveryTextOfAConfigurationThatReachesTheParserIsInTheTable(t *testing.T) {
	factories, err := collector().Factories()
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, c := range ottlComponentsHere(t) {
		known := map[string]bool{}
		for _, field := range c.fields {
			if !declaredHere(t, c, field) {
				continue
			}
			known[strings.Join(field.pattern, ".")] = true
		}
		config := factoryOf(factories, c).CreateDefaultConfig()
		patterns := map[string]bool{}
		texts(reflect.TypeOf(config), nil, patterns, 0)
		for pattern := range known {
			// A statement in a list by itself is made a group before it is decoded.
			if !patterns[pattern] && !inGroups.MatchString(pattern) {
				t.Errorf("%s: %s is not a field of %T", c.id(), pattern, config)
			}
		}
		for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
			tried++
			if !known[pattern] && reaches(t, c, strings.Split(pattern, ".")) {
				t.Errorf("%s: %s reaches the parser and is not in the table", c.id(), pattern)
			}
		}
	}
	t.Logf("%d fields that hold text were tried", tried)
}

// texts are the patterns of the fields of a configuration that hold text, by the type it is decoded into.
func texts(of reflect.Type, pattern []string, found map[string]bool, depth int) {
	if depth > 12 {
		return
	}
	if get, optional := reflect.PointerTo(of).MethodByName("Get"); optional && strings.HasPrefix(of.Name(), "Optional[") {
		of = get.Type.Out(0)
	}
	switch of.Kind() {
	case reflect.Pointer:
		texts(of.Elem(), pattern, found, depth)
	case reflect.String:
		if len(pattern) > 0 {
			found[strings.Join(pattern, ".")] = true
		}
	case reflect.Slice:
		texts(of.Elem(), append(slices.Clip(pattern), "[]"), found, depth+1)
	case reflect.Map:
		texts(of.Elem(), append(slices.Clip(pattern), "*"), found, depth+1)
	case reflect.Struct:
		for i := range of.NumField() {
			field := of.Field(i)
			name, options, _ := strings.Cut(field.Tag.Get("mapstructure"), ",")
			switch {
			case strings.Contains(options, "squash"):
				texts(field.Type, pattern, found, depth+1)
			case name != "" && name != "-":
				texts(field.Type, append(slices.Clip(pattern), name), found, depth+1)
			}
		}
	}
}

func TestAComponentWithoutFieldsHasAReason(t *testing.T) {
	for _, c := range ottlComponents {
		if (c.noFieldsReason == "") != (len(c.fields) > 0) {
			t.Errorf("%s has %d fields and the reason %q", c.id(), len(c.fields), c.noFieldsReason)
		}
	}
}

func TestDeprecatedFunctionsAreThoseOfTheDocumentation(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(linked.ModuleFolder(t, ottlModule), "ottlfuncs/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^### (\w+) \(Deprecated\)`).FindAllStringSubmatch(string(readme), -1) {
		documented[match[1]] = true
	}
	for function := range documented {
		if deprecatedFunctions[function] == "" {
			t.Errorf("%s is deprecated", function)
		}
	}
	if len(documented) != len(deprecatedFunctions) {
		t.Errorf("the documentation has %v, the table %v", documented, deprecatedFunctions)
	}
}
