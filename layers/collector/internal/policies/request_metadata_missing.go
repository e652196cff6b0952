package policies

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var requestMetadataMissing = &Policy{
	Code:     "request_metadata_missing",
	Title:    "A header of the request is read, and nothing keeps it",
	Severity: Warning,
	Why: "Receivers forget the headers of a request unless include_metadata is true, and batch forgets them unless its " +
		"metadata_keys name them. What reads them then, headers_setter, an attribute or a route, finds nothing, without a word.",
	WayOut: "Set include_metadata: true in the protocol of the receiver, and list the header in metadata_keys of batch, or remove batch.",
	Seen:   []string{"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/29676"},
	examples: fixed(`extensions:
  headers_setter:
    headers:
      - {action: insert, key: x-tenant, from_context: x-tenant}
receivers:
  otlp:
    protocols:
      grpc:
exporters:
  otlp:
    endpoint: backend.example.com:4317
    auth:
      authenticator: headers_setter
service:
  extensions: [headers_setter]
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlp]
`,
		"grpc:", `grpc:
        include_metadata: true
processors:
  batch:
    metadata_keys: [x-tenant]`,
		"receivers: [otlp]", `receivers: [otlp]
      processors: [batch]`,
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.pipelines {
			forgets := c.forgetting(one)
			for i, reader := range one.processors {
				tellForgotten(found, reader, forgets, one.processors[:i])
			}
			for _, exporter := range one.exporters {
				tellForgotten(found, exporter, forgets, one.processors)
				name := textAt(exporter.written, "auth", "authenticator")
				for _, extension := range c.started {
					if extension.id == strings.TrimSpace(name) {
						tellForgotten(found, extension, forgets, one.processors)
					}
				}
			}
		}
	},
}

// headerRead is where a component reads a header of the request, in lower case.
type headerRead struct {
	name string
	path []string
}

// headersRead returns the headers that headers_setter, attributes, resource or routing reads.
func (e *entry) headersRead() []headerRead {
	var reads []headerRead
	list, key := "", "from_context"
	switch {
	case e.is("headers_setter"):
		list = "headers"
	case e.is("attributes"):
		list = "actions"
	case e.is("resource"):
		list = "attributes"
	case e.is("routing"):
		list, key = "table", "condition"
	}
	for i, one := range listAt(e.written, list) {
		name := textAt(one, key)
		if key == "condition" {
			match := requestHeader.FindStringSubmatch(name)
			if match == nil {
				continue
			}
			name = match[1]
		}
		name = strings.TrimPrefix(strings.ToLower(name), "metadata.")
		if name == "" || name == "client.address" || strings.HasPrefix(name, "auth.") || valueAt(one, "default_value") != nil {
			continue
		}
		reads = append(reads, headerRead{name, []string{list, strconv.Itoa(i), key}})
	}
	return reads
}

var requestHeader = regexp.MustCompile(`^\s*request\["([^"]+)"\]`)

// forgetting returns a receiver of a pipeline if none of its receivers keeps headers, nil if one does or may do so.
func (c *configuration) forgetting(of *pipeline) *entry {
	var forgets *entry
	for _, one := range c.feeding(of) {
		for _, receiver := range one.receivers {
			if receiver.section == "connectors" {
				continue
			}
			if receiver.read() == nil || len(receiver.servers()) == 0 {
				return nil
			}
			for _, server := range receiver.servers() {
				path := server.setting("include_metadata")
				if receiver.on(path...) || receiver.unknown(path...) {
					return nil
				}
			}
			forgets = receiver
		}
	}
	return forgets
}

// tellForgotten adds a finding for each header that a component reads and that a receiver, or a batch before it, forgets.
func tellForgotten(found *findings, reader, forgets *entry, before []*entry) {
	for _, read := range reader.headersRead() {
		if forgets != nil {
			found.at(reader.path(read.path...), "%s reads a header of the request, and %s does not keep them", reader.id, forgets.id)
			continue
		}
		for _, batch := range before {
			if isBatch(batch) && !batch.unknown("metadata_keys") && !slices.ContainsFunc(batch.list("metadata_keys"), func(key any) bool {
				text, _ := key.(string)
				return strings.EqualFold(text, read.name)
			}) {
				found.at(reader.path(read.path...), "%s reads a header of the request, which %s before it does not keep", reader.id, batch.id)
				break
			}
		}
	}
}
