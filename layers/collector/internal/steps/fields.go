package steps

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/headgate/headgate/layers/collector/internal/trace"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// fieldsOf are the fields of a part of a record, by path: JSON values.
type fieldsOf map[string]json.RawMessage

// Bounds on what is read of a record's contents.
const (
	mostDecoded    = 40_000
	decodedBytes   = 12 << 20
	largestContent = 1 << 20
	mostFields     = 5_000
	deepest        = 50
)

// decoder reads contents, each once.
type decoder struct {
	contents []string
	known    map[decoded]fieldsOf
	keys     map[keyed]string
	// count and size are what was read so far.
	count, size int
}

func newDecoder(contents []string) *decoder {
	return &decoder{contents: contents, known: map[decoded]fieldsOf{}, keys: map[keyed]string{}}
}

type decoded struct {
	signal  string
	level   int
	content int32
	// metric is the content of the metric that a data point belongs to, which says what kind of data point it is.
	metric int32
}

var errBudget = errors.New("the records are too many to compare what they contain")

// part returns the fields of a part of a record, nil if they cannot be read.
func (d *decoder) part(signal string, level int, of *item) fieldsOf {
	asked := decoded{signal: signal, level: level, content: of.parts[level]}
	if level == levelRecord && signal == "metrics" {
		asked.metric = of.parts[levelMetric]
	}
	if found, known := d.known[asked]; known {
		return found
	}
	if d.count++; d.exhausted() {
		return nil
	}
	fields, err := d.read(asked)
	if err != nil {
		fields = nil
	}
	d.known[asked] = fields
	return fields
}

// exhausted tells whether no more contents are read.
func (d *decoder) exhausted() bool { return d.count > mostDecoded || d.size > decodedBytes }

func (d *decoder) read(asked decoded) (fieldsOf, error) {
	content, err := d.bytes(asked.content)
	if err != nil {
		return nil, err
	}
	parts := trace.Parts{}
	switch asked.level {
	case levelResource:
		parts.Resource = content
	case levelScope:
		parts.Scope = content
	case levelMetric:
		parts.Metric = content
	default:
		parts.Record, parts.HasRecord = content, asked.signal != "metrics" || asked.content != 0
		if parts.Metric, err = d.bytes(asked.metric); err != nil {
			return nil, err
		}
	}
	document, err := asJSON(asked.signal, parts.Joined(asked.signal))
	if err != nil {
		return nil, err
	}
	found := fieldsOf{}
	switch asked.level {
	case levelResource:
		delete(document, "scopeLogs")
		delete(document, "scopeSpans")
		delete(document, "scopeMetrics")
		flattenGroup(found, "resource", document)
	case levelScope:
		flattenGroup(found, "scope", inner(document, "scopeLogs", "scopeSpans", "scopeMetrics"), "logRecords", "spans", "metrics")
	default:
		scope := inner(document, "scopeLogs", "scopeSpans", "scopeMetrics")
		record := inner(scope, "logRecords", "spans", "metrics")
		if asked.signal == "metrics" {
			point := pointOf(record)
			if asked.level == levelMetric {
				flatten(found, "metric", record, 0)
				break
			}
			record = point
		}
		flatten(found, "", record, 0)
	}
	return found, nil
}

func (d *decoder) bytes(content int32) ([]byte, error) {
	if int(content) >= len(d.contents) || len(d.contents[content]) > 4*largestContent/3 {
		return nil, errBudget
	}
	d.size += len(d.contents[content])
	return base64.StdEncoding.DecodeString(d.contents[content])
}

// asJSON returns the only resource of a batch, as OTLP/JSON has it.
func asJSON(signal string, batch []byte) (map[string]any, error) {
	var text []byte
	var err error
	switch signal {
	case "logs":
		var logs plog.Logs
		if logs, err = new(plog.ProtoUnmarshaler).UnmarshalLogs(batch); err == nil {
			text, err = new(plog.JSONMarshaler).MarshalLogs(logs)
		}
	case "traces":
		var traces ptrace.Traces
		if traces, err = new(ptrace.ProtoUnmarshaler).UnmarshalTraces(batch); err == nil {
			text, err = new(ptrace.JSONMarshaler).MarshalTraces(traces)
		}
	default:
		var metrics pmetric.Metrics
		if metrics, err = new(pmetric.ProtoUnmarshaler).UnmarshalMetrics(batch); err == nil {
			text, err = new(pmetric.JSONMarshaler).MarshalMetrics(metrics)
		}
	}
	if err != nil {
		return nil, err
	}
	var document map[string]any
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	if err := decoder.Decode(&document); err != nil {
		return nil, err
	}
	return inner(document, "resourceLogs", "resourceSpans", "resourceMetrics"), nil
}

// inner returns the first object of the one of these lists that there is.
func inner(object map[string]any, names ...string) map[string]any {
	for _, name := range names {
		if list, is := object[name].([]any); is && len(list) > 0 {
			found, _ := list[0].(map[string]any)
			return found
		}
	}
	return nil
}

// pointOf takes the data points out of a metric, and returns the first one. What is left has the fields of its data.
func pointOf(metric map[string]any) map[string]any {
	for _, name := range []string{"gauge", "sum", "histogram", "exponentialHistogram", "summary"} {
		if data, is := metric[name].(map[string]any); is {
			point := inner(data, "dataPoints")
			delete(data, "dataPoints")
			delete(metric, name)
			maps.Copy(metric, data)
			metric["type"] = snake(name)
			return point
		}
	}
	return nil
}

func flattenGroup(into fieldsOf, name string, group map[string]any, without ...string) {
	own, _ := group[name].(map[string]any)
	flatten(into, name, own, 0)
	for _, other := range without {
		delete(group, other)
	}
	if schema, is := group["schemaUrl"]; is {
		set(into, name+".schema_url", schema)
	}
}

// flatten adds the fields of an object under a path, with OTTL's names.
func flatten(into fieldsOf, path string, object map[string]any, depth int) {
	for name, value := range object {
		at := snake(name)
		if path != "" {
			at = path + "." + at
		}
		addField(into, at, name, value, depth)
	}
}

func addField(into fieldsOf, path, name string, value any, depth int) {
	list, isList := value.([]any)
	switch {
	case len(into) > mostFields || depth > deepest:
		return
	case strings.HasSuffix(strings.ToLower(name), "attributes") && isList:
		for _, entry := range list {
			pair, _ := entry.(map[string]any)
			key, _ := pair["key"].(string)
			set(into, path+"["+strconv.Quote(key)+"]", plain(pair["value"], depth))
		}
	case name == "body":
		set(into, path, plain(value, depth))
	case isList && len(list) > 0 && isObject(list[0]):
		for i, entry := range list {
			within, _ := entry.(map[string]any)
			flatten(into, fmt.Sprintf("%s[%d]", path, i), within, depth+1)
		}
	case isObject(value):
		within, _ := value.(map[string]any)
		flatten(into, path, within, depth+1)
	case name == "asInt" || name == "asDouble":
		if text, is := value.(string); is && name == "asInt" {
			value = json.Number(text)
		}
		set(into, strings.TrimSuffix(path, "as_"+strings.ToLower(name[2:]))+"value_"+strings.ToLower(name[2:]), value)
	default:
		set(into, path, value)
	}
}

func isObject(value any) bool {
	_, is := value.(map[string]any)
	return is
}

func set(into fieldsOf, path string, value any) {
	if text, err := json.Marshal(value); err == nil {
		into[path] = text
	}
}

// plain makes a JSON value of an AnyValue of OTLP/JSON.
func plain(value any, depth int) any {
	object, is := value.(map[string]any)
	if !is || depth > deepest {
		return value
	}
	for kind, content := range object {
		switch kind {
		case "intValue":
			if text, is := content.(string); is {
				return json.Number(text)
			}
			return content
		case "arrayValue":
			list, _ := content.(map[string]any)
			values, _ := list["values"].([]any)
			made := make([]any, len(values))
			for i, entry := range values {
				made[i] = plain(entry, depth+1)
			}
			return made
		case "kvlistValue":
			list, _ := content.(map[string]any)
			values, _ := list["values"].([]any)
			made := map[string]any{}
			for _, entry := range values {
				pair, _ := entry.(map[string]any)
				key, _ := pair["key"].(string)
				made[key] = plain(pair["value"], depth+1)
			}
			return made
		default:
			return content
		}
	}
	return nil
}

// snake is a name of OTLP/JSON as OTTL has it.
func snake(name string) string {
	var text strings.Builder
	for i, letter := range name {
		if unicode.IsUpper(letter) {
			if i > 0 {
				text.WriteByte('_')
			}
			letter = unicode.ToLower(letter)
		}
		text.WriteRune(letter)
	}
	return text.String()
}

// levelsOf are those at which a record of a signal has parts.
func levelsOf(signal string) []int {
	if signal == "metrics" {
		return []int{levelResource, levelScope, levelMetric, levelRecord}
	}
	return []int{levelResource, levelScope, levelRecord}
}

// differences are the fields that two states of a record do not have in common, by path. The after state is of a signal
// of its own.
func (d *decoder) differences(signal string, before, after *item) []Field {
	fields := []Field{}
	for _, level := range levelsOf(signal) {
		if before.parts[level] == after.parts[level] && (level != levelRecord || before.parts[levelMetric] == after.parts[levelMetric]) {
			continue
		}
		was, is := d.part(signal, level, before), d.part(signal, level, after)
		for path, value := range was {
			switch now, kept := is[path]; {
			case !kept:
				fields = append(fields, Field{Path: path, Change: FieldRemoved, Before: value, After: null})
			case string(now) != string(value):
				fields = append(fields, Field{Path: path, Change: FieldChanged, Before: value, After: now})
			}
		}
		for path, value := range is {
			if _, had := was[path]; !had {
				fields = append(fields, Field{Path: path, Change: FieldAdded, Before: null, After: value})
			}
		}
	}
	slices.SortFunc(fields, func(a, b Field) int { return strings.Compare(a.Path, b.Path) })
	return fields
}

var null = json.RawMessage("null")

// longestValue bounds a value that is told, in bytes.
const longestValue = 1000

// cut makes a text of a value that is too long to be told.
func cut(value json.RawMessage) json.RawMessage {
	if len(value) <= longestValue {
		return value
	}
	text := string(value[:longestValue])
	var content string
	if json.Unmarshal(value, &content) == nil {
		text = content[:min(len(content), longestValue)]
	}
	short, err := json.Marshal(strings.ToValidUTF8(text, "") + "…")
	if err != nil {
		return null
	}
	return short
}

// name is a short text for a record: a log's body, a span's or a metric's name.
func (d *decoder) name(signal string, of *item) string {
	level, paths := levelRecord, []string{"body", "event_name"}
	switch signal {
	case "traces":
		paths = []string{"name"}
	case "metrics":
		level, paths = levelMetric, []string{metricName}
	}
	fields := d.part(signal, level, of)
	for _, path := range paths {
		value, has := fields[path]
		if !has {
			continue
		}
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		return shortName(text)
	}
	return ""
}

func shortName(text string) string {
	const longest = 80
	text = strings.Join(strings.Fields(text[:min(len(text), 8*longest)]), " ")
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return text
}

// sorted are the names of something, in order.
func sorted[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }
