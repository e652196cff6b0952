// Package alias tells the deprecated names of component types.
package alias

import "go.opentelemetry.io/collector/component"

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

// RenamedTo returns a factory's own type if the type by which it was looked up is its deprecated name, else false.
func RenamedTo(factory component.Factory, used component.Type) (component.Type, bool) {
	if deprecated, has := Of(factory); has && deprecated == used {
		return factory.Type(), true
	}
	return component.Type{}, false
}
