package comments

import (
	"bytes"
	"compress/gzip"
	"testing"
)

func compressed(t *testing.T, text string) string {
	t.Helper()
	var buffer bytes.Buffer
	writer := gzip.NewWriter(&buffer)
	if _, err := writer.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.String()
}

func TestTextsAreFoundByTypeAndField(t *testing.T) {
	texts, err := read(compressed(t, `{
		"comments": {"m/p.Config": "Config of p.", "m/p.Config.Endpoint": "Where to send."},
		"components": {"m/p": {"summary": "Sends.", "warnings": ["Statefulness"]}}}`))
	if err != nil {
		t.Fatal(err)
	}

	for name, pair := range map[string][2]string{
		"type":              {texts.Type("m/p", "Config"), "Config of p."},
		"field":             {texts.Field("m/p", "Config", "Endpoint"), "Where to send."},
		"another field":     {texts.Field("m/p", "Config", "Timeout"), ""},
		"module":            {texts.Component("m/p").Summary, "Sends."},
		"versioned module":  {texts.Component("m/p v0.139.0").Summary, "Sends."},
		"unknown component": {texts.Component("m/q").Summary, ""},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %q, not %q", name, pair[0], pair[1])
		}
	}
}

func TestAProgramWithoutTextsHasNone(t *testing.T) {
	texts, err := read("")
	if err != nil {
		t.Fatal(err)
	}

	if text := texts.Field("m/p", "Config", "Endpoint"); text != "" {
		t.Errorf("%q", text)
	}
}

func TestDamagedTextsAreAnError(t *testing.T) {
	for _, damaged := range []string{"no gzip", compressed(t, `{"comments": [`)} {
		if _, err := read(damaged); err == nil {
			t.Errorf("%q was read", damaged)
		}
	}
}
