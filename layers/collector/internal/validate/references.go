package validate

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.yaml.in/yaml/v3"
)

// reference is one `${...}` as it is written in a value of the text.
type reference struct {
	path     []string
	position source.Position
	// uri has its scheme, which `${NAME}` leaves out.
	uri        string
	hasDefault bool
}

var referenceStart = regexp.MustCompile(`\$\{[^${}]*`)

// maxReferences bounds how many are placed.
const maxReferences = 2000

// references finds those in the text that are not escaped, by an even number of dollar signs before the brace.
func (r *report) references() []reference {
	var found []reference
	r.document.Scalars(func(path []string, node *yaml.Node) bool {
		if !strings.Contains(node.Value, "${") {
			return len(found) < maxReferences
		}
		var scalar *source.Scalar
		for _, at := range referenceStart.FindAllStringIndex(node.Value, maxReferences) {
			before := strings.TrimRight(node.Value[:at[0]], "$")
			if (at[0]-len(before))%2 == 1 {
				continue
			}
			if scalar == nil {
				scalar = r.document.ScalarOf(node)
			}
			uri := node.Value[at[0]+2 : at[1]]
			if !strings.Contains(uri, ":") {
				uri = "env:" + uri
			}
			line, column := scalar.Position(at[0])
			found = append(found, reference{
				path:       slices.Clone(path),
				position:   source.Position{Line: line, Column: column},
				uri:        uri,
				hasDefault: strings.HasPrefix(uri, "env:") && strings.Contains(uri, ":-"),
			})
		}
		return len(found) < maxReferences
	})
	return found
}

// variables lists the variables that the configuration refers to, and warns of those that have no value.
func (r *report) variables(request Request, asked *resolved) {
	if len(asked.names) == 0 && len(asked.refused) == 0 {
		return
	}
	byName := make(map[string][]reference)
	for _, one := range r.references() {
		if rest, isVariable := strings.CutPrefix(one.uri, "env:"); isVariable {
			name, _, _ := strings.Cut(rest, ":-")
			byName[name] = append(byName[name], one)
		}
	}
	for _, name := range asked.names {
		places := byName[name]
		if len(places) == 0 {
			// Its name is composed from variables, so it has no position.
			places = []reference{{path: []string{"service"}, position: r.document.Start()}}
		}
		variable := Variable{Name: name, HasDefault: true, ComponentPath: strings.Join(places[0].path, separator)}
		for _, one := range places {
			if one.hasDefault {
				continue
			}
			if _, given := request.Env[name]; !given && variable.HasDefault {
				if added := r.addAt(&r.result.Warnings, one.position, UnsetVariable, one.path, fmt.Sprintf(
					"the environment variable %s has no value and no default, so it is empty here", name)); added != nil {
					added.Cause = &Cause{Kind: VariableUnset, Names: []string{name}}
				}
			}
			variable.HasDefault = false
		}
		r.result.Environment = append(r.result.Environment, variable)
	}
	slices.SortFunc(r.result.Environment, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
}

// refusals adds an error for each request to a refused provider, and returns the components that made them.
func (r *report) refusals(asked *resolved) map[string]bool {
	components := make(map[string]bool)
	if len(asked.refused) == 0 {
		return components
	}
	references := r.references()
	for _, uri := range asked.refused {
		scheme, _, _ := strings.Cut(uri, ":")
		message := fmt.Sprintf("scheme %q is not supported for uri %q", scheme, uri)
		rest := strings.TrimPrefix(uri, scheme+":")
		if byDefault, isDefault := strings.CutPrefix(rest, "-"); !isDefault && strings.EqualFold(scheme, "env") {
			message += fmt.Sprintf("; a variable is written ${env:%s}", rest)
		} else if isDefault || scheme == strings.ToUpper(scheme) {
			message += fmt.Sprintf("; a variable with a default is written ${env:%s:-%s}", scheme, byDefault)
		}
		if slices.Contains(outside, scheme) {
			message = fmt.Sprintf("${%s} refers to something outside of the configuration: the provider %q is not allowed here",
				uri, scheme)
		}
		placed := false
		for _, one := range references {
			if one.uri == uri {
				placed = true
				components[componentOf(one.path)] = true
				r.addAt(&r.result.Errors, one.position, ProviderNotAllowed, one.path, message)
			}
		}
		if !placed {
			// It came from the value of a variable, so any component may have made it.
			components[""] = true
			r.addAt(&r.result.Errors, r.document.Start(), ProviderNotAllowed, []string{"service"}, message)
		}
	}
	return components
}

// reference is the place of the first reference that a message quotes.
func (r *report) reference(message string) ([]string, source.Position, bool) {
	for _, one := range r.references() {
		bare := strings.TrimPrefix(one.uri, "env:")
		name, _, _ := strings.Cut(bare, ":-")
		for _, spelled := range []string{"${" + one.uri + "}", "${" + bare + "}", `"` + one.uri + `"`, `"` + name + `"`} {
			if strings.Contains(message, spelled) {
				return one.path, one.position, true
			}
		}
	}
	return nil, source.Position{}, false
}

// componentOf is the section and the name of the component that a path leads into.
func componentOf(path []string) string {
	return strings.Join(path[:min(len(path), 2)], separator)
}

// otherDocuments warns of documents that the collector ignores.
func (r *report) otherDocuments(text string) {
	if !strings.Contains(text, "\n---") {
		return
	}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var first, second yaml.Node
	if decoder.Decode(&first) != nil {
		return
	}
	if err := decoder.Decode(&second); err == io.EOF {
		return
	}
	position := source.Position{Line: max(second.Line, 1), Column: max(second.Column, 1)}
	r.addAt(&r.result.Warnings, position, Other, []string{"service"},
		"the collector reads only the first document of a text; what follows `---` here has no effect")
}

// unused warns of components that are configured but not in a pipeline. If a finding offers a name for another one, both
// names are of one component.
func (r *report) unused(top map[string]any) {
	used := usage(top)
	isUsed := func(path string) bool {
		section, name, _ := strings.Cut(path, separator)
		return used[section][name]
	}
	offered := make(map[string]bool)
	for _, offer := range r.offers {
		offered[offer[0]] = offered[offer[0]] || isUsed(offer[1])
		offered[offer[1]] = offered[offer[1]] || isUsed(offer[0])
	}
	for _, section := range source.Sections {
		configured, _ := top[section].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(configured)) {
			if used[section][strings.TrimSpace(name)] || offered[section+separator+strings.TrimSpace(name)] {
				continue
			}
			list := "any pipeline"
			if section == "extensions" {
				list = "service::extensions"
			}
			r.warning(UnusedComponent, atKey, []string{section, name},
				fmt.Sprintf("%s %q is configured but not used in %s", strings.TrimSuffix(section, "s"), name, list))
		}
	}
}

// usage returns the components that the service uses, by section. A connector is used as a receiver or as an exporter.
func usage(top map[string]any) map[string]map[string]bool {
	used := make(map[string]map[string]bool)
	use := func(section string, list any) {
		if only, isText := list.(string); isText {
			list = []any{only} // an error of its own
		}
		names, _ := list.([]any)
		for _, name := range names {
			if text, isText := name.(string); isText {
				if used[section] == nil {
					used[section] = make(map[string]bool)
				}
				used[section][strings.TrimSpace(text)] = true
			}
		}
	}
	service, _ := top["service"].(map[string]any)
	use("extensions", service["extensions"])
	pipelines, _ := service["pipelines"].(map[string]any)
	for _, one := range pipelines {
		if pipeline, isMapping := one.(map[string]any); isMapping {
			use("receivers", pipeline["receivers"])
			use("processors", pipeline["processors"])
			use("exporters", pipeline["exporters"])
			use("connectors", pipeline["receivers"])
			use("connectors", pipeline["exporters"])
		}
	}
	return used
}
