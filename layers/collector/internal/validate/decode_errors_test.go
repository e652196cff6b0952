package validate

import (
	"errors"
	"testing"
)

func TestTheNameOfAGoTypeIsNoPartOfThePath(t *testing.T) {
	for name, row := range map[string]struct {
		message string
		want    bool
	}{
		"otlpexporter.Config": {"has invalid keys: a", true},
		"configoptional.Optional[go.opentelemetry.io/x.Setting]": {"has invalid keys: a", true},
		"struct { A string }": {"has unset fields: a", true},
		"protocols.grpc":      {"has invalid keys: a", false},
		"rules[0]":            {"has invalid keys: a", false},
		"headers.Accept":      {"expected type 'string'", false},
		"":                    {"has invalid keys: a", false},
	} {
		if got := isRoot(name, errors.New(row.message)); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
