package validate

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/headgate/headgate/layers/collector/internal/source"
	"go.yaml.in/yaml/v3"
)

// separator stands between the names of a component path, as in the collector.
const separator = "::"

// report collects findings and places them in the text.
type report struct {
	result   Result
	document *source.Document
	reported map[reported]bool
	// offers pair the path of a component whose name has a finding with the path that the finding offers for it.
	offers [][2]string
	// unfinished is set if the search for errors ended before every component was looked at.
	unfinished bool
}

// reported identifies a finding: each is reported once.
type reported struct {
	message, path string
	code          Code
	at            source.Position
}

// place is where a finding points: at the key of its component path, or at the value.
type place int

const (
	atKey place = iota
	atValue
)

// error adds an error at the path.
func (r *report) error(code Code, where place, path []string, message string) *Finding {
	return r.add(&r.result.Errors, code, where, path, message)
}

// ofComponent adds a component's own error at the path. It returns what a host must have for the error not to occur there,
// empty for an error of the text. `again` asks the component once more, nil if that is not possible.
func (r *report) ofComponent(code Code, where place, path []string, message string, err error, again func() error) string {
	needs := ""
	if code == InvalidValue || code == Other {
		needs = hostNeeds(err, again)
	}
	if needs != "" && slices.ContainsFunc(r.result.Errors, func(one Finding) bool {
		return one.needs == needs && componentOf(one.path) == componentOf(path)
	}) {
		return needs
	}
	if added := r.error(code, where, path, message); added != nil {
		added.needs = needs
	}
	return needs
}

// offer notes that a finding at a component offers another section or name for it.
func (r *report) offer(section, name, offeredSection, offeredName string) {
	r.offers = append(r.offers, [2]string{section + separator + name, offeredSection + separator + offeredName})
}

func (r *report) warning(code Code, where place, path []string, message string) *Finding {
	return r.add(&r.result.Warnings, code, where, path, message)
}

func (r *report) add(list *[]Finding, code Code, where place, path []string, message string) *Finding {
	if len(*list) >= maxFindings {
		return nil
	}
	node, key := r.document.Nearest(path...)
	position := key
	if where == atValue && node != nil && node.Kind == yaml.ScalarNode && node.ShortTag() != "!!null" {
		if value, found := r.document.Value(path...); found {
			position = value
		}
	}
	return r.addAt(list, position, code, path, message)
}

// addAt adds a finding and returns it, nil if it is there already or there are too many.
func (r *report) addAt(list *[]Finding, at source.Position, code Code, path []string, message string) *Finding {
	if message = withWayOut(withChoices(path, message)); len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "..."
	}
	finding := Finding{
		Message: message, ComponentPath: joined(path), Code: code, Line: at.Line, Column: at.Column, path: slices.Clone(path),
	}
	once := reported{message, finding.ComponentPath, code, at}
	if r.reported[once] || len(*list) >= maxFindings {
		return nil
	}
	if r.reported == nil {
		r.reported = make(map[reported]bool)
	}
	r.reported[once] = true
	*list = append(*list, finding)
	return &(*list)[len(*list)-1]
}

// joined is a component path. That of a section without a name is in quotes: an empty one means that the text is not YAML.
func joined(path []string) string {
	if whole := strings.Join(path, separator); whole != "" || len(path) == 0 {
		return whole
	}
	return `""`
}

var lineInMessage = regexp.MustCompile(`line (\d+)`)

// syntax adds the errors of a text that is not YAML.
func (r *report) syntax(text string, err error) {
	if r.unknownAnchors(text, err) {
		return
	}
	r.notYAML(err)
	if len(r.result.Errors) == 0 {
		return
	}
	finding, lines := &r.result.Errors[0], strings.Split(text, "\n")
	cut, isCut := source.CutByColon(text, finding.Line)
	if !isCut {
		cut, isCut = source.CutByStart(text, finding.Line)
	}
	if isCut {
		finding.Message += "; " + quoteIt(cut)
		finding.Line, finding.Column, finding.Fix = cut.Start.Line, cut.Start.Column, []source.Fix{cut.Fix}
	} else if strings.Contains(finding.Message, "cannot start any token") && finding.Line <= len(lines) {
		finding.Message += whyNoToken(lines[finding.Line-1])
	} else if strings.Contains(finding.Message, "could not find expected ':'") && finding.Line <= len(lines) &&
		colonWithoutBlank.MatchString(lines[finding.Line-1]) {
		finding.Message += "; a blank must follow the colon"
	}
	if ofAlloy.MatchString(text) {
		finding.Message += alloy
	}
}

// notYAML adds the parser's error, which names the line unless it is the first.
func (r *report) notYAML(err error) {
	message := err.Error()
	if _, words, found := strings.Cut(message, "not valid YAML: "); found {
		message = words
	}
	message = strings.TrimPrefix(message, "yaml: ")
	position := source.Position{Line: 1, Column: 1}
	if match := lineInMessage.FindStringSubmatch(message); match != nil {
		if line, convErr := strconv.Atoi(match[1]); convErr == nil {
			position.Line = max(line, 1)
		}
	}
	r.addAt(&r.result.Errors, position, YAMLSyntax, nil, message)
}

// unresolvable adds what keeps a text that is YAML from becoming a configuration.
func (r *report) unresolvable(err error) {
	r.document.DuplicateKeys(func(mapping []string, key, first *yaml.Node) {
		path := append(slices.Clone(mapping), key.Value)
		r.addAt(&r.result.Errors, source.Position{Line: key.Line, Column: key.Column}, YAMLSyntax, path,
			"mapping key "+strconv.Quote(key.Value)+" already defined at line "+strconv.Itoa(first.Line))
	})
	if len(r.result.Errors) > 0 {
		return
	}
	if root := r.document.Root(); root != nil && root.Kind != yaml.MappingNode {
		message := source.NotAMapping
		if ofAlloy.MatchString(strings.Join(r.document.Lines(), "\n")) {
			message += alloy
		}
		r.addAt(&r.result.Errors, r.document.Start(), YAMLSyntax, nil, message)
		return
	}
	var undecodable *yaml.TypeError
	if errors.As(err, &undecodable) {
		for _, message := range undecodable.Errors {
			r.notYAML(errors.New(message))
		}
		return
	}
	if path, position, found := r.reference(err.Error()); found {
		r.addAt(&r.result.Errors, position, InvalidValue, path, err.Error())
		return
	}
	r.notYAML(err)
}

// finish orders the findings by their place and makes sure that a refusal has one.
func (r *report) finish(verdict error) *Result {
	if verdict != nil && len(r.result.Errors) == 0 {
		r.unexplained(verdict)
	}
	r.dependsOnHost()
	for _, list := range []*[]Finding{&r.result.Errors, &r.result.Warnings} {
		slices.SortStableFunc(*list, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Message, b.Message))
		})
		if *list == nil {
			*list = []Finding{}
		}
	}
	if r.result.Environment == nil {
		r.result.Environment = []Variable{}
	}
	return &r.result
}

var (
	pathInMessage      = regexp.MustCompile(`^((?:receivers|processors|exporters|connectors|extensions|service)(?:::[^\s:]+)+): `)
	componentInMessage = regexp.MustCompile(`'(receivers|processors|exporters|connectors|extensions)' error reading configuration for "([^"]+)"`)
)

// unexplained adds the collector's own words, where taking the configuration apart has found nothing.
func (r *report) unexplained(verdict error) {
	message := verdict.Error()
	path := []string{"service"}
	if match := pathInMessage.FindStringSubmatch(message); match != nil {
		path = strings.Split(match[1], separator)
	} else if match := componentInMessage.FindStringSubmatch(message); match != nil {
		path = match[1:3]
	}
	if r.document == nil {
		r.notYAML(verdict)
		return
	}
	r.ofComponent(Other, atKey, path, message, verdict, nil)
}
