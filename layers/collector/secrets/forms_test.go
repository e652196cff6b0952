package secrets

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// forms are the list as data, for the fleet service, which redacts configurations of observed collectors in Python.
const forms = "../../../shared/headgate/opamp/secret_forms.json"

// TestTheFleetServiceHasTheSameList fails if the data differ from this package. `HEADGATE_WRITE=yes go test ./secrets`
// writes them.
func TestTheFleetServiceHasTheSameList(t *testing.T) {
	patterns := map[string]*regexp.Regexp{
		"name": name, "names": names, "password_setting": passwordSetting, "secret_setting": secretSetting, "value_name": valueName,
		"schemes": schemes, "query": query, "pair": pair, "long_text": longText, "nothing": nothing,
		"state_words": stateWords, "version_name": versionName, "test_file": testFile,
	}
	texts := map[string]string{}
	for key, pattern := range patterns {
		texts[key] = pattern.String()
	}
	type way struct {
		What    string   `json:"what"`
		Pattern string   `json:"pattern"`
		Words   []string `json:"words"`
		Is      string   `json:"is"`
	}
	var all []way
	for _, each := range append(append([]written{}, ways...), commands...) {
		is := ""
		if each.is != nil {
			function := runtime.FuncForPC(reflect.ValueOf(each.is).Pointer()).Name()
			is = function[strings.LastIndex(function, ".")+1:]
		}
		all = append(all, way{each.what, each.pattern.String(), each.words, is})
	}
	var content bytes.Buffer
	encoder := json.NewEncoder(&content)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(map[string]any{"patterns": texts, "rules": rules(), "ways": all}); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("HEADGATE_WRITE") == "yes" {
		if err := os.WriteFile(forms, content.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	has, err := os.ReadFile(forms)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(has, content.Bytes()) {
		t.Error("secret_forms.json differs from this package: run `HEADGATE_WRITE=yes go test ./secrets` in layers/collector")
	}
}
