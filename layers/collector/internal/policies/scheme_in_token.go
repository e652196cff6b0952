package policies

import "strings"

var schemeInToken = &Policy{
	Code:     "scheme_in_token",
	Title:    "bearertokenauth sends the scheme twice",
	Severity: Error,
	Why:      "bearertokenauth puts its scheme, Bearer by default, before the token. With a token that begins with it, the server gets Bearer Bearer and refuses every request.",
	WayOut:   "Leave the scheme out of the token.",
	examples: fixed(`extensions:
  bearertokenauth:
    token: Bearer ${env:TOKEN}
receivers:
  otlp:
    protocols:
      grpc:
exporters:
  otlp:
    endpoint: backend.example.com:4317
    auth:
      authenticator: bearertokenauth
service:
  extensions: [bearertokenauth]
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlp]
`,
		"token: Bearer ${env:TOKEN}", "token: ${env:TOKEN:-none}",
	),
	check: func(c *configuration, found *findings) {
		for _, one := range c.started.of("bearertokenauth") {
			token := textAt(one.written, "token")
			scheme := "Bearer"
			if one.sets("scheme") {
				scheme = one.text("scheme")
			}
			if scheme != "" && strings.HasPrefix(strings.ToLower(token), strings.ToLower(scheme)+" ") {
				found.at(one.path("token"), "the token of %s begins with the scheme %s, which it adds", one.id, scheme)
			}
		}
	},
}
