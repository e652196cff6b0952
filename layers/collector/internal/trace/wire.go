package trace

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// A batch is marshalled once, and its records are parts of that text: a resource is its message without its scopes, a
// scope without its records, a metric without its data points. So a part that did not change has the same bytes.

// Numbers of OTLP's fields.
const (
	fieldResources = 1 // of a batch
	fieldScopes    = 2 // of a resource
	fieldRecords   = 2 // of a scope
	fieldPoints    = 1 // of a metric's data
)

// fieldsOfData are those of a metric that hold data points: gauge, sum, histogram, exponential histogram, summary.
var fieldsOfData = map[protowire.Number]bool{5: true, 7: true, 9: true, 10: true, 11: true}

// group is what records have in common: a resource, a scope in it, or a metric in that, by its bytes. It has groups within
// or records.
type group struct {
	own    []byte
	groups []group
	// records are log records, spans or data points.
	records [][]byte
}

var errWire = errors.New("the batch is not OTLP")

// split takes a marshalled batch apart.
func split(batch []byte, signal string) ([]group, error) {
	var resources []group
	err := each(batch, func(number protowire.Number, _, content []byte) error {
		if number != fieldResources {
			return nil
		}
		resource, err := apart(content, fieldScopes)
		if err != nil {
			return err
		}
		for i, text := range resource.records {
			scope, err := apart(text, fieldRecords)
			if err != nil {
				return err
			}
			if signal == signalMetrics {
				for _, text := range scope.records {
					metric, err := apartMetric(text)
					if err != nil {
						return err
					}
					scope.groups = append(scope.groups, metric)
				}
				scope.records = nil
			}
			resource.groups = append(resource.groups, scope)
			resource.records[i] = nil
		}
		resource.records = nil
		resources = append(resources, resource)
		return nil
	})
	return resources, err
}

// apart takes the fields of that number out of a message.
func apart(message []byte, number protowire.Number) (group, error) {
	var found group
	err := each(message, func(at protowire.Number, whole, content []byte) error {
		if at == number && content != nil {
			found.records = append(found.records, content)
		} else {
			found.own = append(found.own, whole...)
		}
		return nil
	})
	return found, err
}

// apartMetric takes the data points out of a metric. What is left says which kind of data points they are.
func apartMetric(message []byte) (group, error) {
	var found group
	err := each(message, func(number protowire.Number, whole, content []byte) error {
		if !fieldsOfData[number] || content == nil {
			found.own = append(found.own, whole...)
			return nil
		}
		data, err := apart(content, fieldPoints)
		found.own = protowire.AppendBytes(protowire.AppendTag(found.own, number, protowire.BytesType), data.own)
		found.records = append(found.records, data.records...)
		return err
	})
	return found, err
}

// each calls with every field of a message: its number, all its bytes, and its content if it is a message or a text.
func each(message []byte, call func(number protowire.Number, whole, content []byte) error) error {
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return errWire
		}
		length := protowire.ConsumeFieldValue(number, kind, message[tag:])
		if length < 0 {
			return errWire
		}
		whole := message[:tag+length]
		var content []byte
		if kind == protowire.BytesType {
			content, _ = protowire.ConsumeBytes(message[tag:])
			if content == nil {
				content = []byte{}
			}
		}
		if err := call(number, whole, content); err != nil {
			return err
		}
		message = message[len(whole):]
	}
	return nil
}

// Parts are what a record consists of: the bytes of its resource, its scope and, for a data point, its metric. HasRecord
// is false for a metric without data points.
type Parts struct {
	Resource, Scope, Metric, Record []byte
	HasRecord                       bool
}

// Joined makes a batch of one record, as OTLP has it.
func (p Parts) Joined(signal string) []byte {
	record := p.Record
	if signal == signalMetrics {
		record = p.Metric
		if p.HasRecord {
			record = withPoint(p.Metric, p.Record)
		}
	}
	scope := append(clip(p.Scope), field(fieldRecords, record)...)
	return field(fieldResources, append(clip(p.Resource), field(fieldScopes, scope)...))
}

func withPoint(metric, point []byte) []byte {
	var whole []byte
	_ = each(metric, func(number protowire.Number, text, content []byte) error {
		if fieldsOfData[number] && content != nil {
			text = field(number, append(clip(content), field(fieldPoints, point)...))
		}
		whole = append(whole, text...)
		return nil
	})
	return whole
}

func field(number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
}

func clip(text []byte) []byte { return text[:len(text):len(text)] }
