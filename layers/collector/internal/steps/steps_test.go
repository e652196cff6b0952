package steps

import (
	"fmt"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/pricing"
)

// logs makes a document of log records with these bodies, each with the attribute n; the severity is that of the text.
func logs(bodies ...string) string {
	var records []string
	for n, body := range bodies {
		records = append(records, fmt.Sprintf(
			`{"timeUnixNano":"%d","severityNumber":9,"body":{"stringValue":%q},"attributes":[{"key":"n","value":{"intValue":"%d"}}]}`, n+1, body, n))
	}
	return `{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeLogs":[{"logRecords":[` +
		strings.Join(records, ",") + "]}]}]}\n"
}

func step(t *testing.T, of *Document, component string) Step {
	t.Helper()
	for _, one := range of.Steps {
		if one.Component == component {
			return one
		}
	}
	t.Fatalf("there is no step of %s in %+v", component, of.Steps)
	return Step{}
}

// ways are what became of a step's records: "1 changed body", "2 dropped", …
func ways(of Step) []string {
	var all []string
	for _, one := range of.Records {
		way := one.Outcome
		if one.Record != nil {
			way = fmt.Sprintf("%d %s", *one.Record, way)
		}
		for _, field := range one.Fields {
			way += fmt.Sprintf(" %s=%s", field.Path, field.After)
		}
		all = append(all, way)
	}
	return all
}

func expect(t *testing.T, got, expected any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(expected) {
		t.Errorf("\n%v\nis not\n%v", got, expected)
	}
}

const transformed = `
receivers: {sample: {}}
exporters: {kept: {}}
processors:
  filter:
    error_mode: ignore
    logs:
      log_record:
        - 'body == "noise"'
        - attributes["n"] == 7
  transform:
    error_mode: ignore
    log_statements:
      - set(log.attributes["id"], UUID())
      - set(log.attributes["twice"], Int(log.attributes["n"]) * 2) where log.body != "b"
      - set(log.attributes["x"], ParseJSON(log.body)) where log.body == "b"
      - set(resource.attributes["seen"], true) where log.body == "c"
      - set(log.body, "gone") where log.attributes["n"] == 100
service:
  pipelines: {logs: {receivers: [sample], processors: [filter, transform], exporters: [kept]}}
`

func TestARecordIsFollowedThroughStatementsDownToTheField(t *testing.T) {
	folder := t.TempDir()
	_, events := collect(t, transformed, logs("a", "noise", "b", "c"), folder)
	document := asked(t, events, transformed)

	var names []string
	for _, one := range document.Steps {
		names = append(names, fmt.Sprintf("%d %s %s %s %d>%d %v", one.N, one.Pipeline, one.Kind, one.Component, one.RecordsIn, one.RecordsOut, one.Exact))
	}
	expect(t, names, []string{
		"1 logs receiver sample 0>4 true", "2 logs processor filter 4>3 true", "3 logs processor transform 3>3 true",
		"4 logs exporter kept 3>3 true",
	})
	filter := step(t, document, "filter")
	expect(t, ways(filter), []string{"1 unchanged", "2 dropped", "3 unchanged", "4 unchanged"})
	expect(t, fmt.Sprint(filter.Records[1].By[0].Condition, " ", *filter.Records[1].By[0].Line), `body == "noise" 9`)
	expect(t, filter.Statements[0].Dropped, 1)

	transform := step(t, document, "transform")
	first := transform.Records[0]
	if len(first.Fields) != 3 || first.Fields[0].Path != `attributes["id"]` || first.Fields[1].Path != `attributes["twice"]` ||
		string(first.Fields[1].After) != "0" || first.Fields[1].By == nil || *first.Fields[1].By.Line != 15 {
		t.Errorf("%+v", first.Fields)
	}
	var statements []string
	for _, one := range transform.Statements {
		statements = append(statements, fmt.Sprintf("%d:%d of %d, %d changed, %v", *one.Line, one.Matched, one.Evaluated, one.Changed, len(one.Errors)))
	}
	expect(t, statements, []string{"14:3 of 3, 3 changed, 0", "15:2 of 3, 2 changed, 0", "16:1 of 3, 0 changed, 1", "17:1 of 3, 3 changed, 0", "18:0 of 3, 0 changed, 0"})
	if failure := transform.Statements[2].Errors[0]; failure.Count != 1 || !strings.Contains(failure.Message, "invalid") {
		t.Errorf("%+v", failure)
	}
}

func TestRecordsAreFollowedThroughConnectorsThatChoose(t *testing.T) {
	document := told(t, chosen, logs("a", "b", "b", "d")+logs("a", "c"))

	copied := step(t, document, "copying")
	expect(t, ways(copied), []string{"1 unchanged", "2 unchanged", "3 unchanged", "4 unchanged", "5 unchanged", "6 unchanged"})
	expect(t, copied.Feeds, []string{"logs/all", "logs/half"})
	expect(t, fmt.Sprint(copied.RecordsOut, copied.Exact), "9 true")
	batch := step(t, document, "batch")
	expect(t, fmt.Sprint(batch.Pipeline, ways(batch), batch.Exact), "logs/half[1 unchanged 2 unchanged 3 unchanged 4 unchanged 5 unchanged 6 unchanged] false")
	counted := step(t, document, "count")
	expect(t, ways(counted), []string{"1 dropped", "2 merged", "created", "5 dropped"})
	expect(t, fmt.Sprint(counted.Pipeline, counted.OutSignal, counted.Exact, counted.Statements[0].Matched), "logs/allmetricsfalse 1")
	kept := map[string]int{}
	for _, one := range document.Steps {
		if one.Component == "kept" {
			kept[one.Pipeline] = one.RecordsIn
		}
	}
	expect(t, kept, map[string]int{"logs/all": 3, "logs/half": 6, "metrics": 1})
}

const chosen = `
receivers: {sample: {}}
exporters: {kept: {}}
processors: {batch: {}}
connectors: {count: {logs: {b: {conditions: [body == "b"]}}}, copying: {}}
service:
  pipelines:
    logs/in: {receivers: [sample], exporters: [copying]}
    logs/all: {receivers: [copying], exporters: [kept, count]}
    logs/half: {receivers: [copying], processors: [batch], exporters: [kept]}
    metrics: {receivers: [count], exporters: [kept]}
`

func TestARecordThatIsCopiedIsFoundByWhatItContains(t *testing.T) {
	document := told(t, `
receivers: {sample: {}}
exporters: {kept: {}}
processors: {groupbyattrs: {keys: [n]}}
service: {pipelines: {logs: {receivers: [sample], processors: [groupbyattrs], exporters: [kept]}}}
`, logs("a", "a", "b"))

	grouped := step(t, document, "groupbyattrs")
	expect(t, ways(grouped), []string{
		`1 changed attributes["n"]=null resource.attributes["n"]=0`, `2 changed attributes["n"]=null resource.attributes["n"]=1`,
		`3 changed attributes["n"]=null resource.attributes["n"]=2`,
	})
	if grouped.Exact {
		t.Error("the way of a copied record is said to be known")
	}
}

const points = `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"requests","sum":{"aggregationTemporality":1,"dataPoints":[` +
	`{"timeUnixNano":"9","asInt":"1","attributes":[{"key":"user","value":{"stringValue":"x"}}]},` +
	`{"timeUnixNano":"9","asInt":"2","attributes":[{"key":"user","value":{"stringValue":"y"}}]}]}},` +
	`{"name":"bare"}]}]}]}` + "\n"

func TestDataPointsThatAStatementAddsUpAreMerged(t *testing.T) {
	text := `
receivers: {sample: {}}
exporters: {kept: {}}
processors:
  transform:
    metric_statements:
      - statements: ['delete_key(datapoint.attributes, "user")']
      - context: metric
        statements: [aggregate_on_attributes("sum") where metric.name == "requests"]
service: {pipelines: {metrics: {receivers: [sample], processors: [transform], exporters: [kept]}}}
`
	document := told(t, text, points)

	sum := step(t, document, "transform")
	expect(t, ways(sum), []string{`1 changed attributes["user"]=null value_int=3`, "2 merged", "3 unchanged"})
	expect(t, sum.Records[0].Fields[1].By.Statement, `aggregate_on_attributes("sum") where metric.name == "requests"`)
	expect(t, ways(step(t, document, "kept")), []string{"1 unchanged", "3 unchanged"})
	expect(t, step(t, document, "kept").Records[0].Records, []int{1, 2})
}

func TestAnErrorIsOfTheComponentThatMadeItAndNotOfThoseThatPassItOn(t *testing.T) {
	document := told(t, `
receivers: {sample: {}}
exporters: {kept: {}}
processors:
  filter: {logs: {log_record: ['body == "noise"']}}
  transform: {error_mode: propagate, log_statements: ['set(log.attributes["x"], ParseJSON(log.body)) where log.body == "b"']}
service: {pipelines: {logs: {receivers: [sample], processors: [filter, transform], exporters: [kept]}}}
`, logs("a")+logs("b")+logs("b"))

	expect(t, step(t, document, "filter").Errors, []Failure{})
	failures := step(t, document, "transform").Errors
	if len(failures) != 1 || failures[0].Count != 2 || !strings.Contains(failures[0].Message, "invalid") {
		t.Errorf("%+v", failures)
	}
}

func TestPipelinesThatNoRecordReachesAreListedInTheirOrder(t *testing.T) {
	document := told(t, strings.NewReplacer("processors: {batch: {}}", "processors: {batch: {}, filter: {logs: {log_record: ['true']}}}",
		"receivers: [sample], exporters", "receivers: [sample], processors: [filter], exporters").Replace(chosen), logs("a"))

	var names []string
	for _, one := range document.Steps {
		names = append(names, fmt.Sprintf("%s %s %d", one.Pipeline, one.Component, one.RecordsIn))
	}
	expect(t, names, []string{"logs/in sample 0", "logs/in filter 1", "logs/in copying 0", "logs/all kept 0", "logs/all count 0",
		"logs/half batch 0", "logs/half kept 0", "metrics kept 0"})
}

func TestAnExporterThatPipelinesShareIsAStepOfEach(t *testing.T) {
	document := told(t, `
receivers: {sample: {}}
exporters: {kept: {}}
processors: {filter: {logs: {log_record: ['body == "a"']}}}
service:
  pipelines:
    logs/a: {receivers: [sample], exporters: [kept]}
    logs/b: {receivers: [sample], exporters: [kept]}
    logs/c: {receivers: [sample], processors: [filter], exporters: [kept]}
`, logs("a", "b", "c"))

	var taken []string
	for _, one := range document.Steps {
		if one.Component == "kept" {
			taken = append(taken, fmt.Sprint(one.Pipeline, " ", one.RecordsIn))
		}
	}
	expect(t, taken, []string{"logs/a 3", "logs/b 3", "logs/c 2"})
}

func TestAnExpressionIsOnlyEqualToAllOfWhatWasMadeOfIt(t *testing.T) {
	for written, made := range map[string]string{
		`set(body, "x")`:                  `set(log.body, "x")`,
		`body == "x" and attributes["a"]`: `log.body == "x" and log.attributes["a"]`,
	} {
		one, other := pricing.Tokenize(written), pricing.Tokenize(made)
		if !equal(one, other) {
			t.Errorf("%s is not %s", written, made)
		}
		for at := range other {
			if equal(one, other[:at]) || at < len(one) && equal(one[:at], other) {
				t.Errorf("%s is a part of %s, and the same", written, made)
			}
		}
	}
}
