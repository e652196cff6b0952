package policies

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"github.com/headgate/headgate/layers/collector/internal/validate"
)

// TestCostlyRulesAreStopped has rules that would take minutes, or all the memory.
func TestCostlyRulesAreStopped(t *testing.T) {
	many := strings.Repeat("x,", 2_000)
	text := "receivers: {otlp: {protocols: {grpc: }}}\nexporters: {debug: }\nx: [" + many + "]\ny: &y {a: {b: {c: [" + many + "]}}}\nz: [*y, *y, *y]\n"
	for name, expression := range map[string]string{
		"an exponential comprehension": `config.x.all(a, config.x.all(b, config.x.all(c, config.x.all(d, a != "" || b != "" || c != "" || d != ""))))`,
		"lists that double":            strings.Repeat(`config.x.map(a, `, 8) + `[a, a]` + strings.Repeat(`)`, 8) + `.size() > 0`,
		"comparisons of everything":    `config.x.all(a, config.z == config.z)`,
		"a chain of comparisons":       strings.TrimSuffix(strings.Repeat(`config == config && `, 150), ` && `),
		"a search in everything":       `config.x.all(a, config.y in config.z)`,
		"a huge pattern":               `"a".matches("` + strings.Repeat("(a{200}b{200}){5}", 100) + `")`,
		"nested repetitions":           `"a".matches("` + strings.Repeat("(", 100) + "a" + strings.Repeat("){2}", 100) + `")`,
		"deep parentheses":             strings.Repeat("(", 1_500) + "true" + strings.Repeat(")", 1_500),
		"deep lists":                   strings.Repeat("[", 1_500) + strings.Repeat("]", 1_500) + `.size() > 0`,
		"deep maps":                    strings.Repeat("{1:", 900) + "1" + strings.Repeat("}", 900) + `.size() > 0`,
		"deep ternaries":               strings.Repeat("true?", 700) + "true" + strings.Repeat(":true", 700),
		"a long sum":                   strings.Repeat("1+", 1_900) + "1 > 0",
		"many negations":               strings.Repeat("!", 3_900) + "true",
		"texts that double":            `config.x.all(a, ("` + strings.Repeat("a", 900) + `" + a + a).size() > 0 && config.x.all(b, b + a != ""))`,
	} {
		t.Run(name, func(t *testing.T) {
			result, err := answer(Request{
				Request: validate.Request{YAML: text},
				Rules: []Rule{
					{Name: "costly", Expression: expression, Message: "m", Severity: Error},
					{Name: "other", Expression: "true", Message: "m", Severity: Error},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(fmt.Sprint(codesOf(result.Findings)), "other") {
				t.Errorf("the other rule was not evaluated: %+v", result)
			}
			if name != "a long sum" && name != "many negations" && len(result.FailedRules) != 1 {
				t.Errorf("it was evaluated: %+v", result.FailedRules)
			}
		})
	}
}

func TestCostlyTextsAreRefusedOrJudged(t *testing.T) {
	const mb = 1 << 20
	bomb := "a: &a0 [x]\n"
	for i := range 30 {
		bomb += fmt.Sprintf("b%d: &a%d [*a%d, *a%d, *a%d, *a%d]\n", i, i+1, i, i, i, i)
	}
	repeated := func(one string) string { return strings.Repeat(one, mb/8/len(one)) }
	for name, text := range map[string]string{
		"long texts": "receivers:\n  otlp:\n    a: '" + repeated("A") + "'\n    b: '" + repeated("Ab9/") + "'\n    c: '" + repeated("a://b:c") +
			"'\n    password: |\n      " + repeated("# headgate: allow x ") + "\n    token: '" + repeated("${env:A}") +
			"'\n# " + repeated("eyJ.-AKIA") + "\n# headgate: allow " + repeated("a, ") + "\n" +
			repeated("# headgate: allow insecure_tls because x\n"),
		"many anchors":  "a:\n" + manyLines(func(i int) string { return fmt.Sprintf("  k%d: &a%d x\n", i, i) }, 19_000),
		"many lines":    "a:\n" + strings.Repeat("  - x\n", 150_000),
		"an alias bomb": bomb,
		"deep nesting":  "a: " + strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000) + "\n",
		"many components": "receivers: {otlp: {protocols: {grpc: }}}\nexporters:\n" +
			manyLines(func(i int) string { return fmt.Sprintf("  otlp/%d: {endpoint: 'localhost:4317'}\n", i) }, 1_900) +
			"service: {pipelines: {traces: {receivers: [otlp], exporters: [" +
			manyLines(func(i int) string { return fmt.Sprintf("otlp/%d,", i) }, 1_900) + "]}}}\n",
		"many of everything": "receivers:\n" +
			manyLines(func(i int) string {
				return fmt.Sprintf("  otlp/%d: {protocols: {grpc: {endpoint: '0.0.0.0:%d'}, http: {endpoint: '0.0.0.0:%d'}}}\n", i, 10_000+i, 20_000+i)
			}, 650) + "exporters:\n" +
			manyLines(func(i int) string {
				return fmt.Sprintf("  otlp/%d: {endpoint: '${env:H:-localhost}:%d', tls: {insecure: true}}\n", i, 10_000+i)
			}, 650) + "connectors: {forward: , spanmetrics: }\nservice:\n  pipelines:\n" +
			manyLines(func(i int) string {
				return fmt.Sprintf("    traces/%d: {receivers: [otlp/%d, forward], exporters: [otlp/%d, forward, spanmetrics]}\n", i, i, i)
			}, 650),
		"many pipelines": "receivers: {otlp: {protocols: {grpc: }}}\nconnectors: {forward: }\nexporters: {otlp: {endpoint: 'localhost:4317'}}\nservice:\n  pipelines:\n" +
			manyLines(func(i int) string {
				return fmt.Sprintf("    traces/%d: {receivers: [otlp, forward], exporters: [otlp, forward]}\n", i)
			}, 990),
		"many findings in one mapping": "receivers: {otlp: }\nexporters:\n  otlp:\n    endpoint: 'b:1'\n    x:\n" +
			manyLines(func(i int) string {
				return fmt.Sprintf("      a%d: {insecure_skip_verify: true, endpoint: 'http://a.b'}\n", i)
			}, 5_000) + "service: {pipelines: {traces: {receivers: [otlp], exporters: [otlp]}}}\n",
		"many findings below a long key": "receivers: {otlp: }\nexporters:\n  otlp:\n    ? " + strings.Repeat("k", 3*maxPath) + "\n    :\n" +
			manyLines(func(i int) string {
				return fmt.Sprintf("      a%d: {insecure_skip_verify: true, url: 'http://a:password@a.b'}\n", i)
			}, 5_000) + "service: {pipelines: {traces: {receivers: [otlp], exporters: [otlp]}}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			result, err := answer(Request{Request: validate.Request{YAML: text}})
			var refused *operation.Error
			if err != nil && !errors.As(err, &refused) {
				t.Fatal(err)
			}
			if result == nil {
				t.Log(refused)
				return
			}
			if len(result.Findings) > maxPerCode*len(all) || len(result.Suppressions) > maxSuppressions {
				t.Errorf("%d findings, %d suppressions", len(result.Findings), len(result.Suppressions))
			}
			for _, one := range result.Findings {
				if len(one.ComponentPath) > maxPath+len("...") {
					t.Errorf("a path of %d bytes", len(one.ComponentPath))
				}
			}
		})
	}
}

func manyLines(line func(int) string, count int) string {
	var text strings.Builder
	for i := range count {
		text.WriteString(line(i))
	}
	return text.String()
}

// TestSuppressedFindingsHideNoOther has more findings than are listed: who may suppress some could else hide all.
func TestSuppressedFindingsHideNoOther(t *testing.T) {
	const suppressed = "    tls: {insecure: true} # headgate: allow insecure_tls, own-rule because the network is encrypted\n"
	exporters := func(count int) string {
		return manyLines(func(i int) string {
			return fmt.Sprintf("  otlp/a%d:\n    endpoint: 'b:1'\n", i) + suppressed
		}, count)
	}
	pipeline := func(count int) string {
		return "service: {pipelines: {traces: {receivers: [otlp], exporters: [" +
			manyLines(func(i int) string { return fmt.Sprintf("otlp/a%d, ", i) }, count) + "otlp/z]}}}\n"
	}
	const open = "  otlp/z:\n    endpoint: 'b:1'\n    tls: {insecure: true}\n"
	oneLine := manyLines(func(i int) string { return fmt.Sprintf("otlp/a%d: {endpoint: 'b:1', tls: {insecure: true}}, ", i) }, maxKept)
	for name, text := range map[string]string{
		"more than are listed": "exporters:\n" + exporters(maxPerCode+10) + open + pipeline(maxPerCode+10),
		"more than are kept": "exporters: {" + oneLine + "otlp/z: {endpoint: 'b:1', tls: {insecure: true}}}" +
			" # headgate: allow insecure_tls, own-rule because the network is encrypted\n" + pipeline(maxKept),
	} {
		t.Run(name, func(t *testing.T) {
			result := asked(t, Request{
				Request: validate.Request{YAML: "receivers: {otlp: }\n" + text},
				Rules: []Rule{{
					Name: "own-rule", Expression: `components.filter(c, c.kind == "exporter").map(c, c.path + "::tls::insecure")`,
					Message: "m", Severity: Error, Suppressible: true,
				}},
			})

			listed, open := map[string]int{}, map[string]int{}
			for _, one := range result.Findings {
				listed[one.Code]++
				if one.Suppressed == nil {
					open[one.Code]++
				}
			}
			if listed["insecure_tls"] != maxPerCode || listed["own-rule"] != maxPaths || open["insecure_tls"] != 1 || open["own-rule"] != 1 {
				t.Errorf("%v findings, %v of them not suppressed; %v", listed, open, result.FailedRules)
			}
		})
	}
}
