package policies

import (
	"reflect"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/headgate/headgate/layers/collector/internal/alias"
	"github.com/headgate/headgate/layers/collector/internal/decoded"
)

// componentValues returns the components as rules see them.
func (c *configuration) componentValues() []ref.Val {
	c.valued()
	return c.values
}

// pipelineValues returns the pipelines as rules see them.
func (c *configuration) pipelineValues() []ref.Val {
	c.valued()
	var values []ref.Val
	for _, one := range c.pipelines {
		values = append(values, native(map[string]any{
			"id": one.id, "signal": one.signal, "path": strings.Join(one.path, separator),
			"receivers": c.valuesOf(one.receivers), "processors": c.valuesOf(one.processors),
			"exporters": c.valuesOf(one.exporters),
		}))
	}
	return values
}

func (c *configuration) valuesOf(entries []*entry) []ref.Val {
	values := []ref.Val{}
	for _, one := range entries {
		values = append(values, one.value)
	}
	return values
}

func (c *configuration) valued() {
	if c.values != nil {
		return
	}
	c.values = []ref.Val{}
	for _, one := range c.entries {
		one.value = one.newValue()
		c.values = append(c.values, one.value)
	}
}

func native(value any) ref.Val { return types.DefaultTypeAdapter.NativeToValue(value) }

// newValue returns a component as rules see it.
func (e *entry) newValue() ref.Val {
	names := []string{e.kind}
	if e.factory != nil {
		if own := e.factory.Type().String(); own != e.kind {
			names = append(names, own)
		}
		if former, renamed := alias.Of(e.factory); renamed && former.String() != e.kind {
			names = append(names, former.String())
		}
	}
	pipelines := []string{}
	for _, one := range e.of.pipelines {
		for _, list := range [][]*entry{one.receivers, one.processors, one.exporters} {
			for _, other := range list {
				if other == e && (len(pipelines) == 0 || pipelines[len(pipelines)-1] != one.id) {
					pipelines = append(pipelines, one.id)
				}
			}
		}
	}
	fixed, _ := native(map[string]any{
		"path": e.section + separator + e.id, "kind": strings.TrimSuffix(e.section, "s"), "id": e.id, "type": e.kind,
		"types": names, "used": e.used, "pipelines": pipelines, "settings": nil,
	}).(traits.Mapper)
	return &componentValue{fixed, e}
}

// componentValue is a component of which the settings are read when a rule asks for them.
type componentValue struct {
	traits.Mapper
	entry *entry
}

// Find returns the value of a key.
func (v *componentValue) Find(key ref.Val) (ref.Val, bool) {
	if key.Equal(types.String("settings")) == types.True {
		return v.entry.settingsValue(), true
	}
	return v.Mapper.Find(key)
}

// Get returns the value of a key, an error value without one.
func (v *componentValue) Get(key ref.Val) ref.Val {
	if value, found := v.Find(key); found {
		return value
	}
	return v.Mapper.Get(key)
}

func (e *entry) settingsValue() ref.Val {
	if e.settingsSeen == nil {
		e.settingsSeen = native(simple(e.allSettings(), maxDepth*2))
	}
	return e.settingsSeen
}

// simple returns a value with everything in it as null, a boolean, a number, a text, a list or a mapping.
func simple(value any, depth int) any {
	switch content := decoded.Simple(value).(type) {
	case map[string]any:
		mapping := make(map[string]any, len(content))
		for key, inner := range content {
			if isPrintable(inner) && depth > 0 {
				mapping[key] = simple(inner, depth-1)
			}
		}
		return mapping
	case []any:
		list := make([]any, 0, len(content))
		for _, inner := range content {
			if isPrintable(inner) && depth > 0 {
				list = append(list, simple(inner, depth-1))
			}
		}
		return list
	default:
		return content
	}
}

func isPrintable(value any) bool {
	return reflect.TypeOf(decoded.Simple(value)) != reflect.TypeFor[decoded.Unprintable]()
}
