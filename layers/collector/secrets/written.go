package secrets

import (
	"regexp"
	"slices"
	"strings"
)

// written is a way in which secrets are written that have no form of their own. Group 1 is the secret, or all is without
// a group; group 2 may be another one. `is` says more of what it can be.
type written struct {
	what    string
	pattern *regexp.Regexp
	words   []string
	is      func(secret string) bool
}

func way(what, pattern string, is func(string) bool, words ...string) written {
	return written{what, regexp.MustCompile(pattern), words, is}
}

// value is a word or what is in quotes.
const value = `("[^"\r\n]*"?|'[^'\r\n]*'?|[^\s"';|&]+)`

// ways are looked for one after the other; words are in lower case.
var ways = []written{
	// A header as it is sent: all that follows, as a value may have several parts.
	way("a header with credentials", `(?i)(?:authorization|cookie2?)\s*:\s*[^\r\n]+`, nil, "authorization", "cookie"),
	way("a token", `(?i)\bbearer\s+[A-Za-z0-9._~+/=-]{6,}`, isNoChallenge, "bearer"),
	// A user's password in an address, also one with a slash that should have been encoded; and a token as the user.
	way("credentials in an address", `://[^\s/]*:[^\s/]*@`, nil, "://"),
	way("credentials in an address", `://[^\s/:]+:[^\s/@]*[^\s/@0-9][^\s/@]*/[^\s@"'<>]*@`, nil, "://"),
	way("credentials in an address", `://([A-Za-z0-9._~%-]{16,})@`, isUnlikeAWord, "://"),
	way("credentials of Oracle", `(?i)\bjdbc:oracle:[a-z0-9]+:[^\s/@:]+/([^\s@]+)@`, nil, "jdbc:oracle"),
	way("credentials of Oracle", `(?:^|[\s"'=(])[A-Za-z][\w$#]{0,29}/([^\s/@"']{2,64})@(?://)?([A-Za-z][\w-]*)`, nil, "@"),
	way("a statement with a password", `(?i)\bidentified\s+(?:with\s+\S+\s+)?(?:by|as)\s+(?:password\s+)?(?:values\s+)?("[^"\r\n]*"?|'[^'\r\n]*'?)`, nil, "identified"),
	way("a statement with a password", `(?i)\b(?:create|alter|grant)\s[^\r\n;]{1,300}?\sidentified\s+by\s+(?:values\s+)?`+value, nil, "identified"),
	way("a statement with a password", `(?i)\bset\s+password\s+for\s+[^=\r\n]{1,200}?(?:=|\sto\s)\s*(?:password\s*\(\s*)?`+value, nil, "password"),
	way("a statement with a password", `(?i)\bset\s+password\s*=\s*(?:password\s*\(\s*)?`+value, nil, "password"),
	way("credentials of FTP", `(?m)(?:^|[>:"]\s*|sent |client )PASS\s+([^\s"*<][^\s"]*)"?\s*$`, isPassword, "pass "),
	way("credentials of SMTP", `\bAUTH\s+(?:PLAIN|LOGIN|XOAUTH2|CRAM-MD5|NTLM)\s+=?([A-Za-z0-9+/_-]{8,}={0,2})`, isUnlikeAWord, "auth"),
	way("credentials of Redis", `(?i)(?:^|[\s">\]])"?AUTH"?\s+(?:"?[\w.-]+"?\s+)?("[^"]+"|'[^']+'|\S+)`, isUnlikeAWord, "auth"),
	way("credentials of Redis", `(?m)(?:^|redis\S*\s*|>\s*)AUTH\s+(?:\S+\s+)?(\S+)\s*$`, isPassword, "auth"),
	way("credentials of Redis", `AUTH(?:\\r\\n|\r\n)\$[0-9]+(?:\\r\\n|\r\n)([^\r\n\\]+)`, nil, "auth"),
	way("credentials", `(?i)\b(?:auth|creds?)["']?\s*=\s*["']?([^\s&;,"'<>]{3,})`, isSetting, "auth", "cred"),
	way("credentials", `(?i)\bcreds?["']?\s*:\s*["']?([^\s&;,"'<>]{3,})`, isUnlikeAWord, "cred"),
	way("credentials", `(?i)\b(?:login|userpwd|basic[_-]?auth|user_?pass)["']?\s*[=:]\s*["']?([^\s:"'&;,/]+:[^\s"'&;,]+)`, nil, "login", "userpwd", "basic", "userpass", "user_pass"),
	way("a connection string", `(?i)\bconn(?:ection)?[-_ ]?str(?:ing)?["']?\s*[=:]\s*("[^"\r\n]*"?|'[^'\r\n]*'?|[^\s"']+(?: [\w]+=[^\s"';]+;?)*)`, isConnection, "conn"),
	way("a code in an address", `(?i)[?&](?:code|ticket|otp|key|sig|auth|creds?|sid|sess(?:ion)?(?:_?id)?|assertion|samlresponse|access|refresh|hmac|state|nonce)=([^&\s"'<>#]{6,})`, isUnlikeAWord, "?", "&"),
	way("a password of netrc", `(?i)\b(?:machine\s+\S+|default)\s+login\s+\S+\s+password\s+`+value, nil, "login"),
	way("a password of pgpass", `(?m)^[\w.*-]+:(?:[0-9]{2,5}|\*):[\w*-]+:[\w*-]+:(\S+)$`, nil, ":"),
	way("a password in a pipe", `(?i)\becho\s+(?:-n\s+)?["']?[\w.-]+:([^\s"'|]+)["']?\s*\|\s*(?:sudo\s+)?chpasswd`, nil, "chpasswd"),
	way("a password of OpenSSL", `\b(?:pass|passin|passout):([^\s"':]{3,})`, isPassword, "pass"),
	way("a password of a network device", `(?i)\b(?:password|secret|key)\s+[0-9]\s+(\S{8,})`, isUnlikeAWord, "password", "secret", "key"),
	way("a password of a network device", `(?i)\bcommunity\s+(\S+)\s+(?:ro|rw)\b`, isUnlikeAWord, "community"),
	// An option with its value, and an element of XML.
	way("an option", `(?i)\B--?[\w-]*`+secretWords+`\s+("[^"]*"?|'[^']*'?|\S+)`, nil, "-"),
	way("an element", `(?i)<[\w:.-]*`+secretWords+`[\w:.-]*(?:\s[^<>]*)?>(\s*<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|[^<]+)`, nil, "<"),
	way("an element", `(?i)<[\w:.-]+\s[^<>]*(?:key|name)\s*=\s*["'][\w:.-]*(?:pass|`+secretWords+`)[\w:.-]*["'][^<>]*>([^<\s][^<]*)`, nil, "key", "name"),
	way("an attribute", `(?i)\b(?:key|name)\s*=\s*["'][\w:.-]*`+secretWords+`[\w:.-]*["']\s+value\s*=\s*("[^"]*"?|'[^']*'?)`, nil, "value"),
}

// command is a program whose options for secrets have names that tell nothing. Options end with `=` or blanks, or with
// nothing before a value.
func command(programs, options string, is func(string) bool, words ...string) written {
	return way("an option", `(?:^|[^\w.-])(?:`+programs+`)\s(?:[^\r\n]*?\s)??(?:`+options+`)`+value, is, words...)
}

var commands = []written{
	command(`curl|wget`, `-u\s*|--(?:proxy-)?user[\s=]+`, hasColon, "curl", "wget"),
	command(`https?|xh`, `-a\s+|--auth[\s=]+`, hasColon, "http", "xh"),
	command(`mysql(?:dump|admin|import|show|check|slap)?|mariadb(?:-dump|-admin)?`, `-p`, nil, "mysql", "mariadb"),
	command(`sshpass`, `-p\s*`, nil, "sshpass"),
	command(`ldap(?:search|add|modify|delete|passwd|whoami|compare)`, `-w\s*`, nil, "ldap"),
	command(`redis-cli|valkey-cli|keydb-cli`, `-a\s*|--pass[\s=]+`, nil, "-cli"),
	command(`(?:docker|podman|nerdctl|buildah|skopeo|crane|oras|helm registry|az acr)\s+login`, `-p\s*|--password[\s=]+`, nil, "login"),
	command(`skopeo|oras`, `--(?:src-|dest-)?creds[\s=]+`, nil, "creds"),
	command(`sqlcmd|bcp|osql|isql|zip|unzip|zipcloak|ipmitool|mosquitto_(?:pub|sub|rr)|mosquitto_passwd`, `-P\s*`, isOption, "sqlcmd", "bcp", "sql", "zip", "ipmitool", "mosquitto"),
	command(`mongo(?:sh|dump|restore|export|import|stat)?|cqlsh|rdesktop|nxc|crackmapexec|sshpass|vncviewer|impacket-\w+`, `-p\s+`, isOption, "mongo", "cqlsh", "rdesktop", "nxc"),
	command(`7z[ar]?|rar|unrar`, `-p`, nil, "7z", "rar"),
	command(`xfreerdp3?`, `/p:`, nil, "xfreerdp"),
	command(`smbclient|rpcclient|winexe|mount\.cifs|wmic`, `(?:-U\s*|--user[\s=]+)[^\s%]+%`, nil, "%"),
	command(`snmp(?:walk|get|set|bulkwalk|trap|getnext)`, `-[cAX]\s*`, isOption, "snmp"),
	command(`htpasswd`, `-[a-zA-Z]*b[a-zA-Z]*\s+(?:-\w+\s+)*\S+\s+\S+\s+`, nil, "htpasswd"),
	command(`rabbitmqctl`, `(?:add_user|change_password|authenticate_user)\s+\S+\s+`, nil, "rabbitmqctl"),
	command(`vault|bao`, `login\s+`, isUnlikeAWord, "login"),
	command(`mc`, `alias\s+set\s+\S+\s+\S+\s+\S+\s+`, nil, "alias set"),
	command(`net`, `use\s(?:[^\r\n]*?\s)?/user:\S+\s+`, nil, "/user:"),
	command(`wpa_passphrase`, `\S+\s+`, isUnlikeAWord, "wpa_pass"),
	command(`useradd|usermod`, `-p\s+`, nil, "useradd", "usermod"),
	command(`sqlplus|sqlldr|rman|expdp|impdp|exp|imp|conn(?:ect)?`, `(?:-[sSlL]\s+)*[\w$#]+/`, nil, "sqlplus", "sqlldr", "rman", "exp", "imp", "conn"),
	command(`influx`, `-t\s+|--token[\s=]+|-password\s+`, nil, "influx"),
	command(`ntlmrelayx|evil-winrm|kinit`, `-p\s+`, nil, "winrm", "ntlm"),
	command(`expect|send`, `(?i:password)\S*\s+`, nil, "expect"),
}

// everyWay are the ways in which secrets are written, in the order in which they are looked for.
var everyWay = slices.Concat(ways, commands)

// find calls `found` with each secret of the way, from left to right.
func (w *written) find(text string, found func(start, end int)) {
	for _, at := range w.pattern.FindAllStringSubmatchIndex(text, -1) {
		start, end := at[0], at[1]
		if len(at) > 2 && at[2] >= 0 {
			start, end = at[2], at[3]
		}
		bare := strings.Trim(text[start:end], `"'`)
		if len(at) > 4 && at[4] >= 0 && isVersionName(text[at[4]:at[5]]) {
			continue
		}
		if bare == "" || strings.HasPrefix(bare, Redacted) || w.is != nil && !w.is(bare) {
			continue
		}
		found(start, end)
	}
}

func (w *written) without(text string) string {
	var clean strings.Builder
	from := 0
	w.find(text, func(start, end int) {
		clean.WriteString(text[from:start])
		clean.WriteString(Redacted)
		from = end
	})
	if from == 0 {
		return text
	}
	clean.WriteString(text[from:])
	return clean.String()
}

var (
	stateWords  = regexp.MustCompile(`(?i)^(?:true|false|none|null|nil|yes|no|on|off|basic|digest|ntlm|kerberos|negotiate|bearer|token|oauth2?|saml|ldap|pam|jwt|mtls|anonymous|required|optional|enabled|disabled|fail(?:ed|ure)?|success(?:ful)?|ok|error|invalid|missing|expired|denied|plain|login|default|user|password|local|external|internal|unknown|sasl|scram|md5|trust|peer|reject|cert|password:?|environment|stdin|prompt|file)$`)
	versionName = regexp.MustCompile(`(?i)^(?:v?[0-9].*|sha[0-9]+.*|latest|main|master|head|next|beta|alpha|stable|canary|edge|dev(?:elop)?|release.*|rc.*|nightly|trunk)$`)
	testFile    = regexp.MustCompile(`\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|php|feature|spec)$|/|^(?i:test)`)
)

func isNoChallenge(secret string) bool { return !strings.HasSuffix(strings.ToLower(secret), "realm=") }

func hasColon(secret string) bool {
	name, password, is := strings.Cut(secret, ":")
	return is && name != "" && password != "" && !onlyDigits(password)
}

func onlyDigits(text string) bool { return strings.Trim(text, "0123456789") == "" }

// isSetting is for values of names that are also names of settings.
func isSetting(secret string) bool { return !stateWords.MatchString(secret) && !isReference(secret) }

func isPassword(secret string) bool { return isSetting(secret) && !testFile.MatchString(secret) }

// isOption is for options that other programs of the same name use for numbers.
func isOption(secret string) bool {
	return !onlyDigits(secret) && !strings.HasPrefix(secret, "-") && isSetting(secret)
}

func isConnection(secret string) bool {
	return strings.ContainsAny(secret, "=@") && !isReference(secret)
}

// isReference reports whether a text names a variable that holds the secret.
func isReference(text string) bool {
	return strings.HasPrefix(text, "$") || strings.HasPrefix(text, "%(") || strings.HasPrefix(text, "{{") || strings.HasPrefix(text, "<")
}

func isVersionName(text string) bool { return versionName.MatchString(text) }
