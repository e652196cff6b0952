package trace

import (
	"encoding/binary"
	"hash/maphash"
	"reflect"
	"unsafe"

	"github.com/headgate/headgate/layers/collector/internal/datapoints"
	"github.com/headgate/headgate/layers/collector/internal/tracefile"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

const (
	signalLogs    = "logs"
	signalTraces  = "traces"
	signalMetrics = "metrics"
)

// levels are where a part of a batch stands.
const (
	levelResource = iota
	levelScope
	levelMetric
	levelRecord
	levels
)

// identity is the place in memory of what components change in place. While something holds it, it is not the place of a
// later record.
type identity = unsafe.Pointer

// identityOf returns that of a plog.LogRecord, a pcommon.Resource and the like: the first field of each is the pointer to
// what it stands for. It is nil for anything else.
func identityOf(part any) identity {
	value := reflect.ValueOf(part)
	if value.Kind() != reflect.Struct || value.NumField() == 0 || value.Field(0).Kind() != reflect.Pointer {
		return nil
	}
	return value.Field(0).UnsafePointer()
}

// key stands for a content: equal contents have equal keys. The seeds are random, so that no sample can make two contents
// with one key.
type key [2]uint64

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func keyOf(content []byte) key {
	return key{maphash.Bytes(seeds[0], content), maphash.Bytes(seeds[1], content)}
}

// part is a resource, a scope, a metric or a record of a batch that is under way.
type part struct {
	identity identity
	live     live
	// content is what it was when the batch was taken.
	content []byte
	key     key
	// under are the numbers of the resource, the scope and the metric that it belongs to, first is that of the first record
	// that belongs to it.
	under [levelRecord]int32
	first int32
}

// batch is what a consumer was given, taken apart: its parts by level, in order.
type batch struct {
	signal string
	parts  [levels][]part
	// size is that of all contents, key stands for all of them.
	size int
	key  key
}

func (b *batch) add(level int, known identity, is live) {
	own := part{identity: known, live: is, first: int32(b.records())}
	for above := range min(level, levelRecord) {
		own.under[above] = int32(len(b.parts[above]) - 1)
	}
	b.parts[level] = append(b.parts[level], own)
}

// records is how many records the batch has. A metric without data points counts as one.
func (b *batch) records() int { return len(b.parts[levelRecord]) }

// count is how many parts the batch has.
func (b *batch) count() int {
	count := 0
	for _, own := range b.parts {
		count += len(own)
	}
	return count
}

// taken fills in what the parts contain.
func (b *batch) taken(marshalled []byte, err error) (*batch, error) {
	if err != nil {
		return nil, err
	}
	resources, err := split(marshalled, b.signal)
	if err != nil {
		return nil, err
	}
	var at [levels]int
	var total maphash.Hash
	total.SetSeed(seeds[0])
	set := func(level int, content []byte) bool {
		if at[level] >= len(b.parts[level]) {
			return false
		}
		own := &b.parts[level][at[level]]
		own.content, own.key = content, keyOf(content)
		at[level]++
		var number [8]byte
		binary.NativeEndian.PutUint64(number[:], own.key[0]+uint64(level))
		_, _ = total.Write(number[:])
		return true
	}
	fits := b.fill(resources, 0, set)
	for level := range levels {
		fits = fits && at[level] == len(b.parts[level])
	}
	if !fits {
		return nil, errWire
	}
	b.size = len(marshalled)
	b.key = key{total.Sum64(), uint64(b.records())}
	return b, nil
}

func (b *batch) fill(groups []group, level int, set func(int, []byte) bool) bool {
	for _, own := range groups {
		if !set(level, own.own) || !b.fill(own.groups, level+1, set) {
			return false
		}
		for _, record := range own.records {
			if !set(levelRecord, record) {
				return false
			}
		}
		if level == levelMetric && len(own.records) == 0 && !set(levelRecord, nil) {
			return false
		}
	}
	return true
}

func batchOfLogs(logs plog.Logs) (*batch, error) {
	if new(plog.ProtoMarshaler).LogsSize(logs) > tracefile.Largest {
		return nil, errTooLarge
	}
	b := &batch{signal: signalLogs}
	for _, resource := range logs.ResourceLogs().All() {
		b.add(levelResource, identityOf(resource.Resource()), logResource{resource})
		for _, scope := range resource.ScopeLogs().All() {
			b.add(levelScope, identityOf(scope.Scope()), logScope{scope})
			for _, record := range scope.LogRecords().All() {
				b.add(levelRecord, identityOf(record), logRecord{record})
			}
		}
	}
	return b.taken(new(plog.ProtoMarshaler).MarshalLogs(logs))
}

func batchOfTraces(traces ptrace.Traces) (*batch, error) {
	if new(ptrace.ProtoMarshaler).TracesSize(traces) > tracefile.Largest {
		return nil, errTooLarge
	}
	b := &batch{signal: signalTraces}
	for _, resource := range traces.ResourceSpans().All() {
		b.add(levelResource, identityOf(resource.Resource()), spanResource{resource})
		for _, scope := range resource.ScopeSpans().All() {
			b.add(levelScope, identityOf(scope.Scope()), spanScope{scope})
			for _, span := range scope.Spans().All() {
				b.add(levelRecord, identityOf(span), spanRecord{span})
			}
		}
	}
	return b.taken(new(ptrace.ProtoMarshaler).MarshalTraces(traces))
}

func batchOfMetrics(metrics pmetric.Metrics) (*batch, error) {
	if new(pmetric.ProtoMarshaler).MetricsSize(metrics) > tracefile.Largest {
		return nil, errTooLarge
	}
	b := &batch{signal: signalMetrics}
	for _, resource := range metrics.ResourceMetrics().All() {
		b.add(levelResource, identityOf(resource.Resource()), metricResource{resource})
		for _, scope := range resource.ScopeMetrics().All() {
			b.add(levelScope, identityOf(scope.Scope()), metricScope{scope})
			for _, metric := range scope.Metrics().All() {
				b.add(levelMetric, identityOf(metric), metricPart{metric})
				before := b.records()
				for _, point := range datapoints.Of(metric) {
					b.add(levelRecord, identityOf(point), pointPart{point})
				}
				if b.records() == before {
					b.add(levelRecord, nil, nothing{})
				}
			}
		}
	}
	return b.taken(new(pmetric.ProtoMarshaler).MarshalMetrics(metrics))
}
