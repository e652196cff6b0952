package policies

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/headgate/headgate/layers/collector/internal/source"
	"github.com/headgate/headgate/layers/collector/secrets"
	"go.yaml.in/yaml/v3"
)

// sure are ways of writing secrets that mean the same in every text: a header's name may be a setting here.
var sure = []string{"credentials in an address", "credentials of Oracle", "a statement with a password", "a connection string"}

// looked are all the ways that count: these, and those that have to look random.
var looked = append(slices.Clone(sure), "credentials")

// knownSecret returns what secret a text holds and where, "" for none.
func knownSecret(text string) (string, int) {
	for _, found := range append(secrets.Written(text, looked...), secrets.InAddresses(text)...) {
		secret := text[found.Start:found.End]
		if strings.ContainsAny(secret, "${}<>*") || isPlaceholder(strings.Trim(secret, `"'`)) || isPlaceholder(password(secret)) {
			continue
		}
		switch {
		case slices.Contains(sure, found.What), found.What == "a secret in an address" && len(secret) >= leastInAddress:
			return found.What, found.Start
		case !strings.Contains(found.What, " ") && secrets.Entropy(secret) >= leastKnown:
			return "a secret of the form " + found.What, found.Start
		}
	}
	return "", 0
}

// password is that of credentials in an address, the text itself if it is something else.
func password(credentials string) string {
	_, after, is := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(credentials, "://"), "@"), ":")
	if !is {
		return credentials
	}
	return after
}

const (
	// leastInAddress is the length of the shortest secret in an address that is found by its parameter's name.
	leastInAddress = 6
	// leastRandom is the length of the shortest value that is found by its looks alone.
	leastRandom = 32
	// leastKnown is the entropy of a secret below which it is an example.
	leastKnown = 2
)

// blanks are the characters that a scheme ends with.
const blanks = " \t\n\f\r"

// maxSecret is the length in bytes of the longest text that is looked at by its setting's name.
const maxSecret = 4_096

var (
	scheme = regexp.MustCompile(`(?i)^(bearer|basic|token|api-?key|apikey)\s+`)
	// byDefault is the default of a variable, which is part of the text.
	byDefault = regexp.MustCompile(`^(?:[A-Za-z]+\s+)?\$\{(?:env:)?\w+:-([^{}]*)\}$`)
	random    = regexp.MustCompile(`^[A-Za-z0-9+/_=-]{32,512}$`)
	notRandom = regexp.MustCompile(`(?i)(id|hash|digest|sha\d*|fingerprint|file|path|name|pattern|regex|image|url|endpoint|include|exclude|key)$`)
)

// secretAt returns what secret the value of a name seems to be, "" for none. A setting's name decides with the value's
// form: a password may be short, a token is long and looks random.
func secretAt(name, value string) string {
	if strings.Contains(value, "$") {
		if match := byDefault.FindStringSubmatch(value); match != nil {
			value = match[1]
		}
	}
	if strings.Contains(value, "${") || strings.Contains(value, "$orgvar:") || value == "" {
		return ""
	}
	setting := settingOf(name)
	// Most values are neither, and patterns are slow.
	if (len(value) < leastRandom || strings.ContainsAny(value[:leastRandom], " (")) &&
		!setting.isPassword && !setting.isSecret && !(strings.ContainsAny(value, blanks) && scheme.MatchString(value)) {
		return ""
	}
	bare := scheme.ReplaceAllString(value, "")
	switch {
	case isPlaceholder(bare):
		return ""
	case setting.isPassword:
		return "a password"
	case setting.isSecret && len(bare) >= 12 && secrets.Entropy(bare) >= 2.8:
		return "what looks like a secret"
	case random.MatchString(bare) && !notRandom.MatchString(name) && isMixed(bare) && secrets.Entropy(bare) >= 4.3:
		return "what looks like a key, for it is random"
	}
	return ""
}

// secretSetting is what a setting holds by its name.
type secretSetting struct{ isPassword, isSecret bool }

// settingsNamed are those of the last texts, most of which have the same: patterns are slow.
var settingsNamed = struct {
	sync.Mutex
	known map[string]secretSetting
}{known: map[string]secretSetting{}}

const mostSettings = 4_096

func settingOf(name string) secretSetting {
	settingsNamed.Lock()
	defer settingsNamed.Unlock()
	setting, is := settingsNamed.known[name]
	if !is {
		setting = secretSetting{secrets.IsPasswordSetting(name), secrets.IsSecretSetting(name)}
		if len(settingsNamed.known) >= mostSettings {
			clear(settingsNamed.known)
		}
		if len(name) <= maxName {
			settingsNamed.known[strings.Clone(name)] = setting
		}
	}
	return setting
}

// names are the names of values by the path of the pair that has both: `{name: api-key, value: ...}`.
type names map[string]string

func namesIn(document *source.Document) names {
	found := names{}
	document.Scalars(func(path []string, node *yaml.Node) bool {
		if end := len(path) - 1; end > 0 && (path[end] == "name" || path[end] == "key" || path[end] == "header") && len(node.Value) <= maxName {
			found[strings.Join(path[:end], separator)] = node.Value
		}
		return true
	})
	return found
}

// of returns the name of the value at a path: what the pair with it says, or the setting's name.
func (n names) of(path []string) string {
	if end := len(path) - 1; end > 0 && secrets.IsValueName(path[end]) {
		if name, is := n[strings.Join(path[:end], separator)]; is {
			return name
		}
	}
	return nameOf(path)
}

// maxName is the length of the longest name of a value.
const maxName = 200

// nameOf returns the name of a setting: the last key, with the one before it where that one says more (`api::key`).
func nameOf(path []string) string {
	end := len(path)
	for end > 0 && strings.Trim(path[end-1], "0123456789") == "" {
		end-- // an index
	}
	if end == 0 {
		return ""
	}
	if path[end-1] == "key" && end > 1 {
		return path[end-2] + "_key"
	}
	if path[end-1] == "value" && end > 1 {
		return path[end-2] + "_value"
	}
	return path[end-1]
}

var (
	placeholder = regexp.MustCompile(`(?i)(^<.*>$|^\[.*\]$|\.\.\.|change.?me|replace|your[_ -]|example|placeholder|redacted|dummy|` +
		`insert|todo|x{4,}|\*{3,}|^none$|^unset$|^empty$|^null$|^true$|^false$)`)
	words = regexp.MustCompile(`^[a-z]+([ _.-][a-z]+)*$`)
)

// isPlaceholder tells whether a text stands for a secret and is not one.
func isPlaceholder(text string) bool {
	return text == "" || placeholder.MatchString(text) || isPath.MatchString(text) || strings.Trim(text, text[:1]) == "" ||
		len(text) > 20 && words.MatchString(text)
}

// isMixed tells whether a text has capitals, small letters and digits.
func isMixed(text string) bool {
	return strings.ContainsAny(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.ContainsAny(text, "0123456789") &&
		strings.ContainsAny(text, "abcdefghijklmnopqrstuvwxyz")
}
