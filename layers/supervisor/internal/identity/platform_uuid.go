package identity

import "regexp"

var uuidLine = regexp.MustCompile(`"IOPlatformUUID" = "([0-9A-Fa-f-]{36})"`)

// platformUUID finds the id in what macOS's ioreg prints.
func platformUUID(said string) string {
	if match := uuidLine.FindStringSubmatch(said); match != nil {
		return match[1]
	}
	return ""
}
