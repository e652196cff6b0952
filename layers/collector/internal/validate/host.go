package validate

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"regexp"
	"strings"
)

const (
	regionOnHost  = "AWS_REGION in its environment, or the metadata of its instance"
	keysOnHost    = "AWS credentials in its environment, or a role"
	fileOnHost    = "that file or directory"
	writableHere  = "that directory, in which it may write"
	networkOnHost = "the addresses that the component asks when it begins"
)

// hostFacts are errors about what the checking machine does not have, of components that tell them in words only, with
// what a host must have instead.
var hostFacts = []struct {
	words *regexp.Regexp
	needs string
}{
	{regexp.MustCompile(`(?i)credential.*\bec2imds\b`), keysOnHost},
	{regexp.MustCompile(`(?i)\bAWS_REGION\b|\bimds\b|ec2imds|instance metadata`), regionOnHost},
	{regexp.MustCompile(`ECS_CONTAINER_METADATA_URI|task metadata endpoint`), "the metadata endpoint of an ECS task"},
	{regexp.MustCompile(`(?i)in-cluster|KUBERNETES_(?:SERVICE_HOST|MASTER)|serviceaccount|failed to create k8s client`), "the service account of a pod in Kubernetes"},
	{regexp.MustCompile(`(?i)auth_type=kubeConfig\b`), "that context in its kubeconfig"},
	{regexp.MustCompile(`(?i)envvar "\w*" is not set`), "that variable in its environment"},
	{regexp.MustCompile(`\bmkdir\b|(?i)read-only file system`), writableHere},
	{regexp.MustCompile(`(?i)no such file or directory|directory must exist|file does not exist|could not be read`), fileOnHost},
	{regexp.MustCompile(`(?i)only (?:supported|available) on|not supported on (?:this|linux)|unsupported platform`), "the operating system that the component is for"},
	{regexp.MustCompile(`(?i)no such host|connection refused|network is unreachable|(?:dial|listen) (?:tcp|udp|unix)|\bsocket: `), networkOnHost},
	{regexp.MustCompile(`(?i)permission denied|operation not permitted|too many open files`), "the file or address that the component opens when it begins"},
}

// aboutRegion matches errors about a region, which is the host's or one that the text must name: only asking the
// component again can tell.
var aboutRegion = regexp.MustCompile(`(?i)(?:empty|no|missing|unknown|determine|resolve|get|find|detect)\b[^;]{0,40}\bregion\b|region (?:is |was )?(?:not|required|missing|empty)`)

// noAddress matches errors about a text that is an address on no host.
var noAddress = regexp.MustCompile(`missing port in address|too many colons in address|unknown port|invalid port`)

// hostName matches a name that some host may know.
var hostName = regexp.MustCompile(`^[\w.-]+$`)

var quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// hostNeeds returns what a host must have for a component's error not to occur there, empty for an error of the text.
// `again` asks the component once more, nil if that is not possible.
func hostNeeds(err error, again func() error) string {
	message := err.Error()
	var lookup *net.DNSError
	if noAddress.MatchString(message) || errors.As(err, &lookup) && !hostName.MatchString(lookup.Name) {
		return ""
	}
	if lookup != nil || errors.As(err, new(*net.OpError)) {
		return networkOnHost
	}
	var onPath *fs.PathError
	if errors.As(err, &onPath) && onPath.Op == "mkdir" {
		return writableHere
	}
	if onPath != nil || errors.Is(err, fs.ErrNotExist) {
		return fileOnHost
	}
	if aboutRegion.MatchString(unquoted(message)) && (again == nil || isMendedByRegion(message, again)) {
		return regionOnHost
	}
	return hostFact(message)
}

// hostFact returns what a host must have for an error with these words not to occur there.
func hostFact(message string) string {
	message = unquoted(message)
	for _, fact := range hostFacts {
		if fact.words.MatchString(message) {
			return fact.needs
		}
	}
	return ""
}

// unquoted returns a message without what is in quotes, which is the text's.
func unquoted(message string) string { return quotedText.ReplaceAllString(message, `""`) }

// isMendedByRegion tells whether a component has this error only where the environment names no region. One question is
// answered at a time, and the variable is gone before the next one.
func isMendedByRegion(message string, again func() error) bool {
	const name = "AWS_REGION"
	if _, isSet := os.LookupEnv(name); isSet || os.Setenv(name, "us-east-1") != nil {
		return false
	}
	defer os.Unsetenv(name)
	err := again()
	return err == nil || !strings.Contains(err.Error(), message)
}

// ofTheSandbox is what AWS's library says because the checking process asks no instance for its metadata.
var ofTheSandbox = regexp.MustCompile(`,? *access disabled to EC2 IMDS via client option, or "AWS_EC2_METADATA_DISABLED" environment variable`)

// dependsOnHost gives errors about the checking machine their code, and says what remains without them.
func (r *report) dependsOnHost() {
	unknown, others := r.unfinished, 0
	for i := range r.result.Errors {
		finding := &r.result.Errors[i]
		switch {
		case finding.Code == ProviderNotAllowed:
			unknown = true // what stands there on the host decides
		case finding.needs != "":
			finding.Code = DependsOnHost
			finding.Message = onHost(finding.Message, finding.needs)
		case finding.Cause != nil && finding.Cause.Kind == VariableUnset:
			unknown = true // so does what the variable holds there
		default:
			others++
		}
	}
	if remains := others == 0; r.result.Valid || !remains || !unknown {
		r.result.ValidOnHost = &remains
	}
}

// OnHost tells whether an error is about what the checking machine does not have, and returns its message with what the
// host must have.
func OnHost(err error) (string, bool) {
	needs := hostNeeds(err, nil)
	if needs == "" {
		return err.Error(), false
	}
	return onHost(err.Error(), needs), true
}

func onHost(message, needs string) string {
	return ofTheSandbox.ReplaceAllString(message, "") + "; this depends on the host, which must have " + needs
}
