package secrets

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// The forms of vendors' secrets: generated data, see scripts/secret_rules.py.
//
//go:embed gitleaks.json
var gitleaks []byte

// rule is a form of a vendor's secret. It is looked for only in texts with one of its keywords, which are in lower case.
type rule struct {
	ID       string   `json:"id"`
	Pattern  string   `json:"pattern"`
	Keywords []string `json:"keywords"`
	Entropy  float64  `json:"entropy"`
	Group    int      `json:"group"`

	// compiled when a text has a keyword: most programs never meet most vendors.
	compiled func() *regexp.Regexp
}

var rules = sync.OnceValue(func() []*rule {
	var data struct {
		Rules []*rule `json:"rules"`
	}
	if err := json.Unmarshal(gitleaks, &data); err != nil {
		panic("gitleaks.json cannot be read: " + err.Error())
	}
	for _, one := range data.Rules {
		one.compiled = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(one.Pattern) })
	}
	return append(data.Rules, more...)
})

// more are forms that the data lack. A test says so.
var more = []*rule{
	form("honeycomb-key", `\bhc[a-z]{1,2}[ik]k?_[A-Za-z0-9]{40,}`, "hc"),
	form("new-relic-licence-key", `\b(?:[0-9a-f]{36}NRAL|NR(?:AK|II)-[A-Za-z0-9_-]{20,})`, "nral", "nrak-", "nrii-"),
	form("azure-key", `(?i)\b(?:AccountKey|SharedAccessKey|InstrumentationKey)=([A-Za-z0-9+/=-]{20,})`, "key="),
	random(form("headgate-token", `\b(?:s[sv]|ft|whsec)_[A-Za-z0-9_+/=-]{20,}`, "ss_", "sv_", "ft_", "whsec_")),
	form("short-token", `\b(?:AKIA|ASIA|AIza|gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|xapp-|sk-|[spr]k_(?:live|test)_|ya29\.|npm_|pypi-|dop_v1_|SG\.|hvs\.|glsa_|glc_|lin_api_|figd_|dapi|EAA[A-Z]|sq0[a-z]{3}-|shp(?:at|ca|pa|ss)_|xkeysib-|rk_|tfp_|ntn_|dckr_pat_|nfp_|pscale_(?:tkn|pw|oauth)_|ATATT|ATCTT|AGE-SECRET-KEY-1)[A-Za-z0-9_.+/=-]{10,}`,
		"akia", "asia", "aiza", "gh", "glpat-", "xox", "xapp-", "sk-", "k_", "ya29.", "npm_", "pypi-", "dop_v1_", "sg.", "hvs.", "glsa_", "glc_",
		"lin_api_", "figd_", "dapi", "eaa", "sq0", "shp", "xkeysib-", "rk_", "tfp_", "ntn_", "dckr_pat_", "nfp_", "pscale_", "atatt", "atctt", "age-secret"),
	form("bot-token", `\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b|\b[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}`, ":aa", "."),
	form("webhook-address", `https://(?:hooks\.slack\.com/(?:services|workflows)|discord(?:app)?\.com/api/webhooks|[a-z0-9-]+\.webhook\.office\.com/webhookb2)/([^\s"'<>]+)`, "hooks.slack", "webhook"),
	form("crypt-hash", `\$(?:1|2[abxy]|5|6|y|7|argon2i?d?|apr1)\$[./A-Za-z0-9$=,+-]{20,}`, "$"),
	form("jwt-part", `\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*)?`, "eyj"),
	form("private-key", `-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)`, "private key"),
	form("putty-key", `PuTTY-User-Key-File-[0-9]: [\s\S]*?(?:Private-MAC: [0-9a-f]+|$)`, "putty-user"),
}

func form(id, pattern string, keywords ...string) *rule {
	return &rule{
		ID: id, Pattern: pattern, Keywords: keywords,
		compiled: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) }),
	}
}

// random lets a form be a secret only if it does not look like words.
func random(one *rule) *rule {
	one.Entropy = 3.8
	return one
}

// Match is a secret in a text: from Start to End, and what it is.
type Match struct {
	Start, End int
	What       string
}

// Known returns the vendors' secrets in a text, rule by rule. They may overlap.
func Known(text string) []Match {
	return known(text, formWords().in(strings.ToLower(text)))
}

// known is Known for a text that may hold these forms, by their numbers in formWords.
func known(text string, may []bool) []Match {
	var all []Match
	for i, rule := range rules() {
		if !may[i] {
			continue
		}
		for _, at := range rule.compiled().FindAllStringSubmatchIndex(text, -1) {
			start, end := rule.secret(at)
			if rule.Entropy == 0 || Entropy(text[start:end]) > rule.Entropy {
				all = append(all, Match{start, end, rule.ID})
			}
		}
	}
	return all
}

// secret is where the secret of a match is: a named group, the first group that matched, or all of it.
func (r *rule) secret(at []int) (start, end int) {
	if r.Group > 0 && 2*r.Group+1 < len(at) && at[2*r.Group] >= 0 {
		return at[2*r.Group], at[2*r.Group+1]
	}
	for i := 2; i+1 < len(at); i += 2 {
		if at[i] >= 0 && at[i+1] > at[i] {
			return at[i], at[i+1]
		}
	}
	return at[0], at[1]
}

// without takes what was found out of a text.
func without(text string, found []Match) string {
	if len(found) == 0 {
		return text
	}
	hidden := make([]bool, len(text))
	for _, one := range found {
		for i := one.Start; i < one.End; i++ {
			hidden[i] = true
		}
	}
	var clean strings.Builder
	for i := 0; i < len(text); {
		if !hidden[i] {
			end := i
			for end < len(text) && !hidden[end] {
				end++
			}
			clean.WriteString(text[i:end])
			i = end
			continue
		}
		clean.WriteString(Redacted)
		for i < len(text) && hidden[i] {
			i++
		}
	}
	return clean.String()
}
