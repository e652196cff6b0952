package inputname

import (
	"strings"
	"testing"
)

func TestNamesOfLogFilesAreTaken(t *testing.T) {
	for _, name := range []string{
		"/var/log/pods/kube-system_coredns-5d4dd4b4db-mrlrs_8b6c7f2e-1f0c-4b6e-9c11-6f6c0b1f2a3b/coredns/0.log",
		"/data/app (old)/x.log", "/srv/a.log", "/home/me/..hidden/x", "/x",
	} {
		if problem := Problem(name); (problem != "") != strings.Contains(name, "(") {
			t.Errorf("%s %s", name, problem)
		}
	}
}

func TestNamesThatCouldReachAnythingElseAreRefused(t *testing.T) {
	for _, name := range []string{
		"", "x", "./x", "/", "//", "/var/", "/var//log", "/..", "/var/../etc/passwd", "/var/./x", "../x", `C:\x`, "/var/\\x",
		"/etc/passwd", "/proc/self/exe", "/proc/meminfo", "/run/collector.yaml", "/run/output", "/otelcol-contrib",
		"/otelcol-contrib/x", "/lib64/ld-linux-x86-64.so.2", "/usr/lib/x", "/dev/null", "/sys/x",
		"/var/a\x00b", "/var/a\nb", "/var/a\x1bb", "/var/ä", "/var/\xff", "/var/*", "/var/[a]", "/var/{a,b}", "/var/?", "/var/${env:X}",
		"/var/" + strings.Repeat("x", 256), "/" + strings.Repeat("x/", 600) + "x", "/" + strings.Repeat("a/", 40) + "x",
		strings.Repeat("/x", 500_000),
	} {
		if Problem(name) == "" {
			t.Errorf("%.80q is taken", name)
		}
	}
}
