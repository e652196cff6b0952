package policies

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/validate"
	"go.opentelemetry.io/collector/component"
)

// mistakes are what users did in the threads that the policies name, each told anew by a small configuration.
var mistakes = map[string]string{
	// Pods were looked for by the connection, behind batch.
	"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/29630": `
receivers: {otlp: {protocols: {grpc: , http: }}}
processors:
  batch:
  k8sattributes:
    auth_type: none
    extract: {metadata: [k8s.pod.name, k8s.namespace.name]}
    pod_association:
      - sources: [{from: connection}]
exporters: {otlp: {endpoint: 'tempo.example.com:4317'}}
service: {pipelines: {traces: {receivers: [otlp], processors: [batch, k8sattributes], exporters: [otlp]}}}
`,
	// A file was sent again in whole after each restart.
	"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/17274": `
receivers: {filelog/alerts: {include: [/tmp/alerts.log], start_at: beginning, include_file_path: true}}
exporters: {otlphttp: {endpoint: 'https://ingest.example.com'}}
service: {pipelines: {logs: {receivers: [filelog/alerts], exporters: [otlphttp]}}}
`,
	// The exporter had the address of the collector itself.
	"https://github.com/open-telemetry/opentelemetry-java-instrumentation/issues/12180": `
receivers: {otlp: {protocols: {grpc: {endpoint: '0.0.0.0:4317'}, http: {endpoint: '0.0.0.0:4318'}}}}
processors: {batch: }
exporters: {otlp: {endpoint: 'localhost:4317', tls: {insecure: true}}}
service: {pipelines: {traces: {receivers: [otlp], processors: [batch], exporters: [otlp]}}}
`,
	// A job scraped the exporter to which its metrics went, and labels got one exported_ more each time.
	"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/12782": `
receivers:
  prometheus:
    config:
      scrape_configs:
        - {job_name: node, static_configs: [{targets: ['localhost:9100']}]}
        - {job_name: own, static_configs: [{targets: ['localhost:9464']}]}
exporters: {prometheus: {endpoint: 'localhost:9464'}}
service: {pipelines: {metrics: {receivers: [prometheus], exporters: [prometheus]}}}
`,
	// The address had the path that the exporter adds.
	"https://github.com/open-telemetry/opentelemetry.io/pull/2406": `
receivers: {otlp: {protocols: {http: }}}
exporters: {otlphttp: {endpoint: 'http://localhost:4318/v1/traces'}}
service: {pipelines: {traces: {receivers: [otlp], exporters: [otlphttp]}}}
`,
	// The authenticator was not among the extensions of the service.
	"https://github.com/SumoLogic/sumologic-otel-collector/pull/105": `
extensions: {health_check: , basicauth: {client_auth: {username: a, password: '${env:PASSWORD}'}}}
receivers: {fluentforward: {endpoint: 'localhost:24321'}}
exporters: {otlphttp: {endpoint: 'https://ingest.example.com', auth: {authenticator: basicauth}}}
service: {extensions: [health_check], pipelines: {logs: {receivers: [fluentforward], exporters: [otlphttp]}}}
`,
	// A gateway gave the hosts that send to it its own name.
	"https://github.com/elastic/integrations/issues/19728": `
receivers: {otlp: {protocols: {grpc: {endpoint: '0.0.0.0:4317'}}}}
processors: {resourcedetection: {detectors: [system], system: {hostname_sources: [os]}}}
exporters: {otlp: {endpoint: 'elastic.example.com:4317'}}
service: {pipelines: {metrics: {receivers: [otlp], processors: [resourcedetection], exporters: [otlp]}}}
`,
	// Span metrics were made of what tail sampling had left.
	"https://github.com/grafana/k8s-monitoring-helm/issues/1957": `
receivers: {otlp: {protocols: {grpc: }}}
processors: {tail_sampling: {policies: [{name: errors, type: status_code, status_code: {status_codes: [ERROR]}}]}}
connectors: {spanmetrics: , forward: }
exporters: {otlp: {endpoint: 'backend.example.com:4317'}}
service:
  pipelines:
    traces: {receivers: [otlp], processors: [tail_sampling], exporters: [otlp, forward]}
    traces/metrics: {receivers: [forward], exporters: [spanmetrics]}
    metrics: {receivers: [spanmetrics], exporters: [otlp]}
`,
	// The logs of all pods were read, also the collector's own.
	"https://github.com/open-telemetry/opentelemetry-helm-charts/issues/702": `
receivers: {filelog: {include: [/var/log/pods/*/*/*.log], exclude: ['/var/log/pods/**/*.gz'], operators: [{type: container}]}}
exporters: {debug: , otlp: {endpoint: 'backend.example.com:4317'}}
service: {pipelines: {logs: {receivers: [filelog], exporters: [debug, otlp]}}}
`,
	// Ids in span names made time series without end.
	"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/38990": `
receivers: {otlp: {protocols: {grpc: }}}
connectors: {spanmetrics: {dimensions: [{name: http.method}]}}
exporters: {otlp: {endpoint: 'backend.example.com:4317'}}
service:
  pipelines:
    traces: {receivers: [otlp], exporters: [otlp, spanmetrics]}
    metrics: {receivers: [spanmetrics], exporters: [otlp]}
`,
	// The limiter came after batch.
	"https://github.com/grafana/agent-modules/pull/35": `
receivers: {otlp: {protocols: {grpc: }}}
processors: {batch: , memory_limiter: {check_interval: 1s, limit_mib: 512}}
exporters: {otlp: {endpoint: 'backend.example.com:4317'}}
service: {pipelines: {logs: {receivers: [otlp], processors: [batch, memory_limiter], exporters: [otlp]}}}
`,
	// A filter came after batch.
	"https://github.com/dash0hq/dash0-operator/pull/652": `
receivers: {otlp: {protocols: {grpc: }}}
processors:
  memory_limiter: {check_interval: 1s, limit_mib: 512}
  batch:
  filter/probes: {traces: {span: ['name == "GET /healthz"']}}
exporters: {otlp: {endpoint: 'backend.example.com:4317'}}
service: {pipelines: {traces: {receivers: [otlp], processors: [memory_limiter, batch, filter/probes], exporters: [otlp]}}}
`,
	// pod_association was commented out.
	"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/35879": `
receivers: {filelog: {include: [/var/log/pods/shop_*/*/*.log], operators: [{type: container}]}}
processors: {k8sattributes/logs: {auth_type: none, extract: {metadata: [k8s.pod.name, k8s.node.name]}}}
exporters: {otlp: {endpoint: 'backend.example.com:4317'}}
service: {pipelines: {logs: {receivers: [filelog], processors: [k8sattributes/logs], exporters: [otlp]}}}
`,
	// The sampling extension and the receiver had the same port.
	"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/14707": `
extensions: {jaegerremotesampling: {grpc: {endpoint: 'localhost:14250'}, source: {file: strategy.json}}}
receivers: {jaeger: {protocols: {grpc: {endpoint: '0.0.0.0:14250'}}}}
exporters: {otlp: {endpoint: 'jaeger.example.com:4317'}}
service: {extensions: [jaegerremotesampling], pipelines: {traces: {receivers: [jaeger], exporters: [otlp]}}}
`,
	// The key stood in the values that are under version control.
	"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/12414": `
receivers: {otlp: {protocols: {grpc: }}}
exporters: {datadog: {api: {site: datadoghq.eu, key: 0a1b2c3d4e5f60718293a4b5c6d7e8f9}}}
service: {pipelines: {metrics: {receivers: [otlp], exporters: [datadog]}}}
`,
	// One of five bounds had the unit of minutes.
	"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/50183": `
receivers: {otlp: {protocols: {grpc: }}}
connectors: {spanmetrics: {metrics_expiration: 5m, histogram: {explicit: {buckets: [100us, 1ms, 2ms, 5m, 10ms]}}}}
exporters: {otlp: {endpoint: 'backend.example.com:4317'}}
service:
  pipelines:
    traces: {receivers: [otlp], exporters: [otlp, spanmetrics]}
    metrics: {receivers: [spanmetrics], exporters: [otlp]}
`,
	// Metrics of all queues were combined into one without a name.
	"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/48871": `
receivers: {otlp: {protocols: {grpc: }}}
processors: {metricstransform: {transforms: [{include: '^queue\.(.+)\.depth$$', match_type: regexp, action: combine}]}}
exporters: {otlp: {endpoint: 'backend.example.com:4317'}}
service: {pipelines: {metrics: {receivers: [otlp], processors: [metricstransform], exporters: [otlp]}}}
`,
	// Values were to be masked, and every attribute was gone.
	"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/11450": `
receivers: {otlp: {protocols: {grpc: }}}
processors: {redaction: {blocked_values: ['4[0-9]{12}']}}
exporters: {otlp: {endpoint: 'backend.example.com:4317'}}
service: {pipelines: {logs: {receivers: [otlp], processors: [redaction], exporters: [otlp]}}}
`,
	// The exporter had the host and port only.
	"https://github.com/grafana/docker-otel-lgtm/issues/73": `
receivers: {otlp: {protocols: {http: }}}
exporters: {otlphttp: {endpoint: 'localhost:4318'}}
service: {pipelines: {metrics: {receivers: [otlp], exporters: [otlphttp]}}}
`,
	// The exporter for Prometheus had an address without a port.
	"https://github.com/open-telemetry/opentelemetry-operator/issues/2628": `
receivers: {otlp: {protocols: {grpc: }}}
exporters: {prometheus: {endpoint: 0.0.0.0}}
service: {pipelines: {metrics: {receivers: [otlp], exporters: [prometheus]}}}
`,
	// headers_setter read a header that the receiver had not kept.
	"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/29676": `
extensions: {headers_setter: {headers: [{action: insert, key: x-otlp-api-key, from_context: x-otlp-api-key}]}}
receivers: {otlp: {protocols: {grpc: {include_metadata: true}}}}
processors: {batch: }
exporters: {otlp: {endpoint: 'dashboard.example.com:18889', auth: {authenticator: headers_setter}}}
service: {extensions: [headers_setter], pipelines: {traces: {receivers: [otlp], processors: [batch], exporters: [otlp]}}}
`,
	// Counted logs never came to Prometheus.
	"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/37164": `
receivers: {otlp: {protocols: {grpc: }}}
connectors: {count: {logs: {my.count: {attributes: [{key: service.name, default_value: app}]}}}}
processors: {batch: }
exporters: {prometheusremotewrite: {endpoint: 'https://prometheus.example.com/api/v1/write'}}
service:
  pipelines:
    logs: {receivers: [otlp], exporters: [count]}
    metrics: {receivers: [count], processors: [batch], exporters: [prometheusremotewrite]}
`,
	// Half of the health checks were to be left out, and all traces came.
	"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/20657": `
receivers: {otlp: {protocols: {grpc: }}}
processors:
  tail_sampling:
    policies:
      - {name: always, type: always_sample}
      - {name: errors, type: status_code, status_code: {status_codes: [ERROR, UNSET]}}
      - name: health
        type: and
        and:
          and_sub_policy:
            - {name: path, type: string_attribute, string_attribute: {key: http.url, values: [/health]}}
            - {name: half, type: probabilistic, probabilistic: {sampling_percentage: 50}}
exporters: {otlp: {endpoint: 'backend.example.com:4317'}}
service: {pipelines: {traces: {receivers: [otlp], processors: [tail_sampling], exporters: [otlp]}}}
`,
	// A route of a policy was a pattern, and no trace was sampled by it.
	"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/38142": `
receivers: {otlp: {protocols: {grpc: }}}
processors:
  tail_sampling:
    policies:
      - name: noisy
        type: and
        and:
          and_sub_policy:
            - {name: route, type: string_attribute, string_attribute: {key: http.route, values: ['/v1/name/.+']}}
            - {name: few, type: probabilistic, probabilistic: {sampling_percentage: 1}}
exporters: {otlp: {endpoint: 'backend.example.com:4317'}}
service: {pipelines: {traces: {receivers: [otlp], processors: [tail_sampling], exporters: [otlp]}}}
`,
	// Spans of services of a name's beginning were to be dropped.
	"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/11536": `
receivers: {otlp: {protocols: {grpc: }}}
processors: {filter: {spans: {exclude: {match_type: strict, services: ['hoff-api.*']}}}}
exporters: {otlp: {endpoint: 'backend.example.com:4317'}}
service: {pipelines: {traces: {receivers: [otlp], processors: [filter], exporters: [otlp]}}}
`,
	// Lines of several files became records of each other.
	"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/45479": `
receivers:
  filelog:
    include: [/var/log/app/*.log]
    operators: [{type: recombine, combine_field: body, is_first_entry: 'body matches "^\\d{4}-"'}]
exporters: {otlp: {endpoint: 'backend.example.com:4317'}}
service: {pipelines: {logs: {receivers: [filelog], exporters: [otlp]}}}
`,
	// A header of the request was to be passed on.
	"https://github.com/open-telemetry/opentelemetry-collector/issues/12947": `
receivers: {otlp: {protocols: {http: {include_metadata: true}}}}
processors: {attributes: {actions: [{key: auth_header, from_context: Authorization, action: upsert}]}}
exporters: {otlp: {endpoint: 'elastic.example.com:8200', headers: {Authorization: 'attributes["auth_header"]'}}}
service: {pipelines: {traces: {receivers: [otlp], processors: [attributes], exporters: [otlp]}}}
`,
	// Every record had the name of a field for the name of its pod.
	"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/35686": `
receivers:
  filelog:
    include: [/var/log/pods/*/*/*.log]
    include_file_path: true
    operators: [{type: container}, {type: add, field: attributes.pod_name, value: resource.k8s.pod.name}]
exporters: {otlp: {endpoint: 'backend.example.com:4317'}}
service: {pipelines: {logs: {receivers: [filelog], exporters: [otlp]}}}
`,
	// Lines had the time of day only.
	"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/46111": `
receivers:
  filelog:
    include: [/var/log/ignite.log]
    operators:
      - {type: regex_parser, on_error: send_quiet, regex: '^.{0,128}?(?P<timestamp>\d{2}:\d{2}:\d{2}\,\d{3})'}
      - {type: time_parser, on_error: send_quiet, parse_from: attributes.timestamp, layout_type: strptime, layout: '%H:%M:%S,%L'}
exporters: {otlp: {endpoint: 'backend.example.com:4317'}}
service: {pipelines: {logs: {receivers: [filelog], exporters: [otlp]}}}
`,
	// A group's name went on to the next word.
	"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/3849": `
receivers: {hostmetrics: {collection_interval: 1s, scrapers: {load: }}}
processors:
  metricstransform:
    transforms:
      - {include: '^system.cpu.load_average(?P<interval>.*)m$', match_type: regexp, action: update, new_name: CPU_$interval_load}
exporters: {otlp: {endpoint: 'backend.example.com:4317'}}
service: {pipelines: {metrics: {receivers: [hostmetrics], processors: [metricstransform], exporters: [otlp]}}}
`,
	// The documentation had no braces around the group's number.
	"https://github.com/open-telemetry/opentelemetry-collector-contrib/pull/4143": `
receivers: {otlp: {protocols: {grpc: }}}
processors: {metricstransform: {transforms: [{include: '^net_(.*)_recv$$', match_type: regexp, action: update, new_name: net_$$1recv}]}}
exporters: {otlp: {endpoint: 'backend.example.com:4317'}}
service: {pipelines: {metrics: {receivers: [otlp], processors: [metricstransform], exporters: [otlp]}}}
`,
	// Log records without a trace ID were all dropped.
	"https://github.com/open-telemetry/opentelemetry-collector-contrib/issues/31946": `
receivers: {filelog: {include: [/var/log/app.log]}}
processors: {probabilistic_sampler: {sampling_percentage: 50}}
exporters: {otlp: {endpoint: 'backend.example.com:4317'}}
service: {pipelines: {logs: {receivers: [filelog], processors: [probabilistic_sampler], exporters: [otlp]}}}
`,
}

func TestMistakesOfUsersAreFoundInConfigurationsThatAreValid(t *testing.T) {
	found, otherReleases := 0, 0
	for _, policy := range all {
		if !policy.holds(collector().BuildInfo.Version) {
			otherReleases += len(policy.Seen)
			continue
		}
		for _, link := range policy.Seen {
			text := mistakes[link]
			if text == "" {
				t.Fatalf("%s: there is no configuration for %s", policy.Code, link)
			}
			if !slices.Contains(codesOf(judged(t, text)), policy.Code) {
				t.Errorf("%s does not find %s", policy.Code, link)
			}
			verdict, err := validate.Validate(context.Background(), collector(), validate.Request{YAML: text})
			var refused *operation.Error
			if err == nil && !verdict.Valid || err != nil && !errors.As(err, &refused) {
				t.Errorf("%s: %+v %v", link, verdict, err)
			}
			found++
		}
	}
	if found+otherReleases != len(mistakes) || found < 10 {
		t.Errorf("%d of %d mistakes are found, %d are of other releases", found, len(mistakes), otherReleases)
	}
}

func TestNoSecretIsInAnAnswer(t *testing.T) {
	for name, text := range map[string]string{
		"a header":      "exporters: {otlp: {endpoint: 'a:1', headers: {authorization: 'Bearer %s'}}}\n",
		"a password":    "receivers: {postgresql: {endpoint: 'a:1', password: %s}}\n",
		"a default":     "receivers: {postgresql: {endpoint: 'a:1', password: '${env:P:-%s}'}}\n",
		"an address":    "exporters: {otlphttp: {endpoint: 'http://user:%s@example.com/v1/traces'}}\n",
		"a query":       "exporters: {otlphttp: {endpoint: 'http://example.com:4317/%s'}}\n",
		"a comment":     "# token: ghp_%s%s\nreceivers:\n",
		"another value": "exporters: {otlp: {endpoint: 'a:1', headers: {x-tenant: %s}}}\n",
		"a list":        "receivers: {nop: {tokens: [%s]}}\n",
		"a variable":    "exporters: {otlp: {endpoint: '${env:SECRET}:4318', tls: {insecure: true}, headers: {a: '${env:SECRET}'}}}\n",
	} {
		const secret = "zQ7wK2pX9vB4nM8rT5yL1cF6hJ3dG0sA"
		text = strings.ReplaceAll(text, "%s", secret) + "service: {pipelines: {traces: {receivers: [x], exporters: [otlp, otlphttp]}}}\n"
		result := asked(t, Request{Request: validate.Request{YAML: text, Env: map[string]string{"SECRET": secret}}})
		if !slices.Contains(codesOf(result.Findings), "secret_in_text") && name != "a query" && name != "a variable" {
			t.Errorf("%s: it is not found: %+v", name, result.Findings)
		}
		for _, one := range result.Findings {
			if strings.Contains(one.Message+one.ComponentPath, secret[:12]) || strings.Contains(strings.ToLower(one.Message), "zq7w") {
				t.Errorf("%s: %+v", name, one)
			}
		}
	}
}

// No name of a setting says what these are, and they look like any hash.
func TestSecretsAsPairsAndParametersAreFound(t *testing.T) {
	for name, text := range map[string]string{
		"a pair":         "exporters: {otlp: {endpoint: 'a:1', headers: [{name: api-key, value: %s}]}}\n",
		"a pair after":   "exporters: {otlp: {endpoint: 'a:1', headers: [{value: %s, name: x-auth-token}]}}\n",
		"an action":      "processors: {attributes: {actions: [{key: api_token, value: %s, action: insert}]}}\n",
		"telemetry":      "service: {telemetry: {metrics: {readers: [{periodic: {exporter: {otlp: {headers: [{name: api-key, value: %s}]}}}}]}}}\n",
		"a parameter":    "exporters: {otlphttp: {endpoint: 'http://example.com/v1?api_key=%s'}}\n",
		"the second one": "exporters: {otlphttp: {endpoint: 'https://example.com/v1?a=1&token=%s#x'}}\n",
		"a connection":   "receivers: {sqlserver: {datasource: 'Server=db;User Id=sa;Password=%s;'}}\n",
		"a DSN":          "receivers: {sqlquery: {datasource: 'host=a;password=%s'}}\n",
		"Oracle's":       "receivers: {oracledb: {x: 'jdbc:oracle:thin:shop/%s@db:1521'}}\n",
	} {
		const secret = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
		findings := judged(t, strings.ReplaceAll(text, "%s", secret))
		if !slices.Contains(codesOf(findings), "secret_in_text") {
			t.Errorf("%s: it is not found: %+v", name, findings)
		}
		for _, one := range findings {
			if strings.Contains(one.Message+one.ComponentPath, secret[:12]) {
				t.Errorf("%s: %+v", name, one)
			}
		}
	}
}

func TestWhatIsNotASecret(t *testing.T) {
	for name, text := range map[string]string{
		"a variable":          "exporters: {otlp: {headers: {authorization: 'Bearer ${env:TOKEN}'}}}",
		"an organization's":   "exporters: {otlp: {headers: {authorization: '$orgvar:TOKEN'}}}",
		"a file":              "exporters: {otlp: {token_file: /var/run/secrets/kubernetes.io/serviceaccount/token, password_file: /a}}",
		"a placeholder":       "exporters: {otlp: {headers: {api-key: <your key here>, token: xxxxxxxxxxxxxxxxxxxx, secret: changeme-please}}}",
		"a tenant":            "exporters: {otlp: {headers: {X-Scope-OrgID: tenant-1}}}",
		"an image":            "receivers: {x: {image: 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'}}",
		"a statement":         `processors: {transform: {log_statements: ['set(attributes["user.hash"], SHA256(attributes["user.id"]))']}}`,
		"a pattern":           `processors: {redaction: {blocked_values: ['(?i)\bbearer\s+[A-Za-z0-9._~+/-]+=*', 'AKIA[0-9A-Z]{16}']}}`,
		"an address":          "exporters: {otlp: {endpoint: 'https://user@example.com:4317'}}",
		"a name of a header":  "extensions: {headers_setter: {headers: [{key: authorization, from_context: authorization}]}}",
		"an empty default":    "receivers: {postgresql: {password: '${env:P:-}'}}",
		"a pair with a name":  "exporters: {otlp: {headers: [{name: api-key, value: '${env:KEY}'}, {name: x-tenant, value: shop}]}}",
		"a parameter":         "exporters: {otlphttp: {endpoint: 'https://example.com/v1?api_key=${env:KEY}&api_key_id=17'}}",
		"another parameter":   "exporters: {otlphttp: {endpoint: 'https://example.com/v1?key=region&token=example-token'}}",
		"a statement's":       `processors: {transform: {log_statements: ['replace_pattern(body, "password=[^ ]*", "password=***")']}}`,
		"an address' pattern": `processors: {transform: {log_statements: ['replace_pattern(body, "https?://[^?]+\?token=[^&]*", "")']}}`,
		"words":               "exporters: {otlp: {headers: {token: this.is.the.name.of.a.token.elsewhere}}}",
	} {
		if findings := judged(t, text+"\n"); slices.Contains(codesOf(findings), "secret_in_text") {
			t.Errorf("%s: %+v", name, findings)
		}
	}
}

func TestEveryExporterThatAcceptsAnAddressWithoutASchemeIsFound(t *testing.T) {
	factories, err := collector().Factories()
	if err != nil {
		t.Fatal(err)
	}
	for name, settings := range map[string]string{
		"otlphttp":        "traces_endpoint: c.example.com/v1/traces",
		"splunk_hec":      "token: t, endpoint: 'splunk.example.com:8088/services/collector'",
		"zipkin":          "endpoint: 'zipkin.example.com:9411/api/v2/spans'",
		"influxdb":        "endpoint: 'influx.example.com:8086', org: a, bucket: b, token: t",
		"logzio":          "account_token: t, endpoint: 'listener.logz.io:8071'",
		"sumologic":       "endpoint: collectors.sumologic.com/receiver",
		"signalfx":        "access_token: t, ingest_url: ingest.us0.signalfx.com, api_url: 'https://api.us0.signalfx.com'",
		"faro":            "endpoint: faro.example.com",
		"bmchelix":        "endpoint: x.onbmc.com, api_key: k",
		"honeycombmarker": "api_key: k, api_url: api.honeycomb.io, markers: [{type: a, rules: {log_conditions: ['body == \"x\"']}}]",
		"opensearch":      "http: {endpoint: 'es.example.com:9200'}",
	} {
		if _, is := factories.Exporters[component.MustNewType(name)]; !is {
			continue // a reduced build
		}
		signal := map[string]string{"influxdb": "metrics", "signalfx": "metrics", "bmchelix": "metrics", "sumologic": "logs", "honeycombmarker": "logs"}[name]
		text := "receivers: {otlp: {protocols: {grpc: }}}\nexporters: {" + name + ": {" + settings + "}}\nservice: {pipelines: {" +
			cmp.Or(signal, "traces") + ": {receivers: [otlp], exporters: [" + name + "]}}}\n"
		if valid, err := validate.Accepts(context.Background(), collector(), validate.Request{YAML: text}); err != nil || !valid {
			t.Errorf("%s is refused: %v", name, err)
		}
		if findings := judged(t, text); !slices.Contains(codesOf(findings), "endpoint_without_scheme") {
			t.Errorf("%s: %+v", name, findings)
		}
	}
}

func TestAProcessorOfSeveralPipelinesIsTheSubjectOfOneFinding(t *testing.T) {
	var told []string
	for _, one := range judged(t, `
receivers: {otlp: {protocols: {grpc: {endpoint: '0.0.0.0:4317'}}}, jaeger: {protocols: {grpc: {endpoint: '0.0.0.0:14250'}}}, hostmetrics: {scrapers: {load: }}}
processors: {resourcedetection: {detectors: [system]}}
exporters: {debug: }
service:
  pipelines:
    metrics: {receivers: [otlp, hostmetrics], processors: [resourcedetection], exporters: [debug]}
    traces: {receivers: [jaeger, otlp], processors: [resourcedetection], exporters: [debug]}
`) {
		if one.Code == "resource_detection_overrides" {
			told = append(told, one.Message)
		}
	}
	want := "resourcedetection gives data from other machines, received by otlp, jaeger, this machine's attributes"
	if len(told) != 1 || told[0] != want {
		t.Errorf("%q", told)
	}
}
