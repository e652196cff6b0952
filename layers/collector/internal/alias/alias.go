// Package alias tells the names that other releases have for component types.
package alias

import (
	"strings"

	"go.opentelemetry.io/collector/component"
)

// holder is implemented by the factories of renamed components. The collector's own interface of this name is internal
// to its modules, and exists from 0.145.0 on.
type holder interface{ DeprecatedAlias() component.Type }

// Of returns the deprecated name that a factory still answers to, false if it has none.
func Of(factory component.Factory) (component.Type, bool) {
	renamed, is := factory.(holder)
	if !is {
		return component.Type{}, false
	}
	deprecated := renamed.DeprecatedAlias()
	return deprecated, deprecated.String() != "" && deprecated != factory.Type()
}

// RenamedTo returns a factory's own type if the type by which it was looked up is its deprecated name or that of a later
// release, else false.
func RenamedTo(factory component.Factory, used component.Type) (component.Type, bool) {
	if deprecated, has := Of(factory); has && deprecated == used {
		return factory.Type(), true
	}
	if used != factory.Type() && IsSame(used.String(), factory.Type().String()) {
		return factory.Type(), true
	}
	return component.Type{}, false
}

// Known returns the factory of a section that another release calls `used`, false if there is none, or more than one.
func Known[F component.Factory](factories map[component.Type]F, used component.Type) (factory F, is bool) {
	for kind, one := range factories {
		if kind != one.Type() || !IsSame(used.String(), kind.String()) {
			continue
		}
		if is {
			return one, false
		}
		factory, is = one, true
	}
	return factory, is
}

// IsSame tells whether two releases may call a component by these two names: from 0.145.0 on, releases write underscores
// between the words of a type, and one was renamed otherwise.
func IsSame(one, other string) bool {
	return one != other && plain(one) == plain(other)
}

// ReleaseOf tells whether a name for a component that this release calls otherwise is that of `newer` or `older` releases.
func ReleaseOf(used, here string) string {
	if _, is := later[used]; is || strings.Count(used, "_") > strings.Count(here, "_") {
		return "newer"
	}
	return "older"
}

// later are the types that later releases named otherwise than by underscores, with the former name.
//
// Source: metadata.yaml of exporter/otlpexporter at v0.158.0 of https://github.com/open-telemetry/opentelemetry-collector
// (Apache-2.0). Receivers of the type otlp have no such name.
var later = map[string]string{"otlp_grpc": "otlp"}

func plain(kind string) string {
	if former, is := later[kind]; is {
		kind = former
	}
	return strings.ReplaceAll(kind, "_", "")
}
