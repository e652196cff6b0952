package upgrade

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

var kinds = []string{"receiver", "processor", "exporter", "connector", "extension", "provider"}

// featureGates returns the gates whose stage changed, without those of components that the text does not use.
//
// A new gate that is disabled changes nothing. In a reduced build, a gate without a component may be missing only
// because no component registers it, so its absence is reported for gates of components that the build has.
func featureGates(before, after *Description, components []Component) []FeatureGate {
	old, now := before.byID(), after.byID()
	known := namesOf(before, after, components)
	ids := maps.Clone(old)
	maps.Copy(ids, now)
	found := []FeatureGate{}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		stageBefore, stageAfter := stage(old, id), stage(now, id)
		if stageBefore != nil && stageAfter != nil && *stageBefore == *stageAfter ||
			stageBefore == nil && !isEnabled(*stageAfter) {
			continue
		}
		owners := known.ownersOf(id)
		used := known.usedOf(owners)
		if len(owners) > 0 && len(used) == 0 ||
			stageAfter == nil && after.mayLack(owners) || stageBefore == nil && before.mayLack(owners) {
			continue
		}
		found = append(found, FeatureGate{id, stageBefore, stageAfter, ids[id].Description, used})
	}
	return found
}

// isEnabled tells whether a gate of the stage is enabled unless somebody disables it.
func isEnabled(stage string) bool {
	return strings.EqualFold(stage, "beta") || strings.EqualFold(stage, "stable")
}

func (d *Description) byID() map[string]Gate {
	gates := map[string]Gate{}
	for _, gate := range d.FeatureGates {
		gates[gate.ID] = gate
	}
	return gates
}

func stage(gates map[string]Gate, id string) *string {
	if gate, has := gates[id]; has {
		return &gate.Stage
	}
	return nil
}

// mayLack tells whether a gate of these owners may be absent because the build is reduced.
func (d *Description) mayLack(owners []ComponentType) bool {
	return d.Reduced && (len(owners) == 0 || slices.ContainsFunc(owners, func(owner ComponentType) bool {
		return slices.ContainsFunc(d.Lacks, func(lacking ComponentType) bool {
			return lacking.Kind == owner.Kind && lacking.Type == owner.Type
		})
	}))
}

type kindAndType struct{ kind, name string }

// names tells which components a gate's id names: `receiver.prometheusreceiver.X`, `transform.flatten.logs`.
type names struct {
	owners map[string][]ComponentType
	// used has the places of the components by kind and type: a text may have tens of thousands, and there are many gates.
	used       map[kindAndType][]int
	components []Component
}

func namesOf(before, after *Description, components []Component) *names {
	n := &names{owners: map[string][]ComponentType{}, used: map[kindAndType][]int{}, components: components}
	for _, description := range []*Description{before, after} {
		for _, one := range slices.Concat(description.Components, description.Lacks) {
			for _, name := range []string{plain(one.Type), plain(one.DeprecatedType), plain(moduleName(one.Module))} {
				if name != "" && !slices.Contains(n.owners[name], one) {
					n.owners[name] = append(n.owners[name], one)
				}
			}
		}
	}
	for at, one := range components {
		section, _, _ := strings.Cut(one.ComponentPath, "::")
		key := kindAndType{strings.TrimSuffix(section, "s"), one.Type}
		n.used[key] = append(n.used[key], at)
	}
	return n
}

// ownersOf returns the component types that one of the first two parts of the id names, of the kind that the id begins
// with.
func (n *names) ownersOf(id string) []ComponentType {
	parts := strings.SplitN(id, ".", 3)
	parts = parts[:min(len(parts), 2)]
	begins := strings.TrimSuffix(plain(parts[0]), "s")
	ofKind := slices.Contains(kinds, begins)
	if ofKind {
		parts = parts[1:]
	}
	var found []ComponentType
	for _, part := range parts {
		for _, owner := range n.owners[plain(part)] {
			if !ofKind || owner.Kind == begins {
				found = append(found, owner)
			}
		}
	}
	return found
}

// usedOf returns the paths of the text's components of these types, in the order of the text.
func (n *names) usedOf(owners []ComponentType) []string {
	types := map[kindAndType]bool{}
	for _, owner := range owners {
		types[kindAndType{owner.Kind, owner.Type}] = true
		types[kindAndType{owner.Kind, owner.DeprecatedType}] = true
	}
	var places []int
	for one := range types {
		places = append(places, n.used[one]...)
	}
	slices.Sort(places)
	paths := []string{}
	for _, at := range places {
		paths = append(paths, n.components[at].ComponentPath)
	}
	return paths
}

var majorVersion = regexp.MustCompile(`/v\d+$`)

// moduleName is the last part of a module's path, without its version; empty without a module.
func moduleName(module string) string {
	module, _, _ = strings.Cut(module, " ")
	if module == "" {
		return ""
	}
	return path.Base(majorVersion.ReplaceAllString(module, ""))
}

func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
