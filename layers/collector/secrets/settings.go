package secrets

import (
	"regexp"
	"strings"
)

var (
	passwordSetting = regexp.MustCompile(`(?i)(^|[_.-])(password|passwd|passphrase|pwd)$`)
	secretSetting   = regexp.MustCompile(`(?i)((^|[_.-])(secret|token|api[_.-]?key|app[_.-]?key|access[_.-]?key|secret[_.-]?key|license[_.-]?key|` +
		`private[_.-]?key|ingest(ion)?[_.-]?key|signing[_.-]?key|authorization|credentials?|cookie|dsn|connection[_.-]?string)|` +
		`x-honeycomb-team|uptrace-dsn|lightstep-access-token|instrumentation_key)$`)
	// query is a parameter of an address, or of a connection string.
	query = regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s"'<>]*?[?&][^\s"'<>]*|(?i:\b(?:server|data source|endpoint|host|accountname)=[^"'<>\r\n]*;[^"'<>\r\n]*)`)
	pair  = regexp.MustCompile(`(?:[?&;]|^)\s*([\w.-]+)\s*=\s*([^&;\s#]+)`)
)

// IsPasswordSetting reports whether a setting of a configuration holds a password by its name: stricter than IsName, as
// settings also name files, fields and lengths of secrets.
func IsPasswordSetting(key string) bool { return passwordSetting.MatchString(key) }

// IsSecretSetting reports whether a setting holds another secret by its name.
func IsSecretSetting(key string) bool { return secretSetting.MatchString(key) }

// InAddresses returns the values of secrets that are parameters of addresses and connection strings.
func InAddresses(text string) []Match {
	var all []Match
	if !strings.Contains(text, "=") {
		return nil
	}
	for _, address := range query.FindAllStringIndex(text, -1) {
		for _, at := range pair.FindAllStringSubmatchIndex(text[address[0]:address[1]], -1) {
			key := text[address[0]+at[2] : address[0]+at[3]]
			if IsPasswordSetting(key) || IsSecretSetting(key) || strings.EqualFold(key, "sig") {
				all = append(all, Match{address[0] + at[4], address[0] + at[5], "a secret in an address"})
			}
		}
	}
	return all
}
