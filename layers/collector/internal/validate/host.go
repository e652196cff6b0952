package validate

import "regexp"

// hostFacts are errors about what the checking machine does not have, with what a host must have instead.
var hostFacts = []struct {
	words *regexp.Regexp
	needs string
}{
	{regexp.MustCompile(`(?i)\bAWS_REGION\b|\bimds\b|ec2imds|instance metadata|(?:empty|no|missing|unknown|determine|resolve|get|find|detect)\b[^;]{0,40}\bregion\b|region (?:is |was )?(?:not|required|missing|empty)`),
		"AWS_REGION in its environment, or the metadata of its instance"},
	{regexp.MustCompile(`(?i)in-cluster|KUBERNETES_SERVICE_HOST|serviceaccount`), "the service account of a pod in Kubernetes"},
	{regexp.MustCompile(`(?i)envvar "\w+" is not set`), "that variable in its environment"},
	{regexp.MustCompile(`(?i)no such file or directory|directory must exist|file does not exist|could not be read`), "that file or directory"},
	{regexp.MustCompile(`(?i)only (?:supported|available) on|not supported on (?:this|linux)|unsupported platform`), "the operating system that the component is for"},
	{regexp.MustCompile(`(?i)no such host|connection refused|network is unreachable|(?:dial|listen) (?:tcp|udp|unix)|\bsocket: `), "the addresses that the component asks when it begins"},
	{regexp.MustCompile(`defaults cannot be made here`), "what they are made of, such as a home folder"},
	{regexp.MustCompile(`(?i)permission denied|operation not permitted|too many open files`), "the file or address that the component opens when it begins"},
}

// noAddress matches errors about a text that is an address on no host.
var noAddress = regexp.MustCompile(`missing port in address|too many colons in address|unknown port|invalid port`)

// dependsOnHost gives errors about the checking machine their code, and says what remains without them.
func (r *report) dependsOnHost() {
	onHost, others := 0, 0
	for i := range r.result.Errors {
		finding := &r.result.Errors[i]
		if finding.Code == ProviderNotAllowed {
			onHost++ // what stands there on the host decides
			continue
		}
		if finding.Code != InvalidValue && finding.Code != Other {
			others++
			continue
		}
		message, depends := OnHost(finding.Message)
		if !depends {
			others++
			continue
		}
		onHost++
		finding.Code, finding.Message = DependsOnHost, message
	}
	switch valid, invalid := true, false; {
	case r.result.Valid:
		r.result.ValidOnHost = &valid
	case others > 0 || onHost == 0:
		r.result.ValidOnHost = &invalid
	}
}

// OnHost tells whether an error is about what the checking machine does not have, and returns it with what the host must
// have.
func OnHost(message string) (string, bool) {
	if noAddress.MatchString(message) {
		return message, false
	}
	for _, fact := range hostFacts {
		if fact.words.MatchString(message) {
			return message + "; this depends on the host, which must have " + fact.needs, true
		}
	}
	return message, false
}
