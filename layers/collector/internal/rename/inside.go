package rename

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
)

// insideComponents finds the names inside of components: those whose replacement changes an id of the decoded
// configuration, and nothing else.
func (p *plan) insideComponents(candidates []*candidate) error {
	for _, c := range candidates {
		if !c.where.inside {
			continue
		}
		section := c.use.path[0]
		// A component refers to extensions. Some have components of their own kind inside.
		_, isExtension := p.kinds["extensions"][c.id.Type()]
		if isExtension {
			section = "extensions"
		}
		if _, lacks := p.env.Lacks("extensions", c.id.Type()); lacks && !isExtension {
			continue
		}
		to := p.kinds.renamed(section, c.id.Type())
		if to == "" {
			continue
		}
		meaning, err := p.decoder.meaning(c, renamedText(c.use.text, to))
		if err != nil {
			return err
		}
		at := target{section, c.id}
		switch {
		case meaning == isName && isExtension:
			c.use.role, c.use.target, c.use.to = reference, at, to
			p.undeclared(c)
		case meaning == isName:
			c.use.role, c.use.to = nested, to
		case meaning == isTaken:
			c.use.role, c.use.to = nested, to
			c.spot.stays = fmt.Sprintf("%s is taken", renamedText(c.use.text, to))
		case meaning == isUnknown && isExtension:
			p.keep(at, fmt.Sprintf("%s cannot be read here, and may refer to it", strings.Join(c.use.path[:2], separator)))
		}
	}
	return nil
}

// insideVariables keeps the extensions that a variable inside of a component may refer to.
func (p *plan) insideVariables() error {
	renames := false
	for one := range p.declared {
		renames = renames || one.section == "extensions" && p.kinds.renamed(one.section, one.id.Type()) != ""
	}
	for _, one := range p.variables {
		if !renames {
			return nil
		}
		mayRefer, err := p.decoder.mayRefer(one)
		if err != nil {
			return err
		}
		if mayRefer {
			p.doubt(one, []string{"extensions"})
		}
	}
	return nil
}

// probe is a name that no component has.
const probe = "headgate_probe"

// meaning is what a text inside of a component is.
type meaning int

const (
	// isUnknown is a text of a component that cannot be read, or not with another text at this place.
	isUnknown meaning = iota
	isNoName
	isName
	// isTaken is a name whose replacement is a key beside it.
	isTaken
)

// decoder decodes components with another text in a place.
type decoder struct {
	kinds   kinds
	plain   map[string]any
	decoded map[string]*decoded
	// left is how many more values are decoded.
	left int
}

// decoded is a component as the text configures it. Values counts what there is to decode.
type decoded struct {
	config component.Config
	values int
	err    error
}

// meaning tells what a candidate inside of a component is, by what changes with its other name. Its error has the code
// too_costly.
func (d *decoder) meaning(c *candidate, other string) (meaning, error) {
	before, content, readable, err := d.before(c.use.path)
	if err != nil || !readable {
		return isUnknown, err
	}
	found, path, changed := isName, c.use.path[2:], copied(content)
	if !c.use.key {
		if !set(changed, path, other) {
			return isUnknown, nil
		}
	} else if !setKey(changed, path, other) {
		found, other = isTaken, probe
		if !setKey(changed, path, other) {
			return isUnknown, nil
		}
	}
	after, err := decodeBody(d.kinds.factory(c.use.path), changed)
	if err != nil {
		return isUnknown, nil
	}
	compared := compare(before, after, map[string]string{
		strings.TrimSpace(c.use.text): strings.TrimSpace(other), c.use.text: other,
	})
	switch {
	case compared.others:
		return isUnknown, nil
	case compared.ids == 0:
		return isNoName, nil
	}
	return found, nil
}

// mayRefer tells whether a text with a variable inside of a component may be the name of another. It may in a component
// that cannot be read.
func (d *decoder) mayRefer(one variable) (bool, error) {
	_, content, readable, err := d.before(one.path)
	if err != nil || !readable {
		return true, err
	}
	path, changed := one.path[2:], copied(content)
	if !set(changed, path, probe) {
		return true, nil
	}
	after, err := decodeBody(d.kinds.factory(one.path), changed)
	if err != nil {
		return false, nil // the name of a component is any text like this one
	}
	return hasID(after, probe), nil
}

// before returns the component of a path as the text configures it, and its content. Its error has the code too_costly.
func (d *decoder) before(path []string) (config component.Config, content any, readable bool, err error) {
	content = contentOf(d.plain, path[0], path[1])
	key := path[0] + separator + path[1]
	before, known := d.decoded[key]
	if !known {
		before = &decoded{values: valuesIn(content)}
		before.config, before.err = decodeBody(d.kinds.factory(path), content)
		d.decoded[key] = before
	}
	const least = 20 // decoding costs something even where there is little to decode
	if d.left -= before.values + least; d.left < 0 {
		return nil, nil, false, tooCostly("too many texts in it may be names")
	}
	return before.config, content, before.err == nil, nil
}

// factory returns that of the component into which a path leads, nil if there is none.
func (k kinds) factory(path []string) component.Factory {
	var id component.ID
	if id.UnmarshalText([]byte(path[1])) != nil {
		return nil
	}
	return k[path[0]][id.Type()]
}

func contentOf(plain map[string]any, section, name string) any {
	content, _ := plain[section].(map[string]any)
	return content[name]
}

func decodeBody(factory component.Factory, content any) (config component.Config, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			fmt.Fprintf(os.Stderr, "panic: %v\n%s", reason, debug.Stack())
			err = fmt.Errorf("the collector panicked: %v", reason)
		}
	}()
	if factory == nil {
		return nil, fmt.Errorf("there is no such component")
	}
	mapping, isMapping := copied(content).(map[string]any)
	if !isMapping && content != nil {
		return nil, fmt.Errorf("it is not a mapping")
	}
	config = factory.CreateDefaultConfig()
	return config, confmap.NewFromStringMap(mapping).Unmarshal(&config)
}
