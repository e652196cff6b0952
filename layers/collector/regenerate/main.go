// Program regenerate writes versions/<X.Y.Z>: a collector of that version, made of the components of its official
// manifest.
//
//	go run . [-manifest FILE] [-unlisted] [-whole] X.Y.Z
//	go run . -first X.Y.Z
//
// With -first it writes only the package `first`, after a change of versions/FIRST.
// With -whole it writes nothing if the build would be reduced, and names what the module proxy does not serve.
// With -unlisted, modules may be without an entry in the checksum database: for a folder whose go.sum is reviewed and
// committed.
// The manifest is FILE or the one in the folder. It needs the internet. If the module proxy does not serve every
// component, the build is reduced: distribution/lacking.go lists what it lacks. Run it again when the proxy serves them
// all, and it is whole.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
)

const source = "https://github.com/open-telemetry/opentelemetry-collector-releases/blob/v%s/distributions/otelcol-contrib/manifest.yaml"

func main() {
	log.SetFlags(0)
	given := flag.String("manifest", "", "file with the official manifest of the version")
	unlisted := flag.Bool("unlisted", false, "allow modules that have no entry in the checksum database")
	whole := flag.Bool("whole", false, "write nothing if the module proxy does not serve every component")
	first := flag.Bool("first", false, "write only the program with the components of versions/FIRST")
	flag.Parse()
	if flag.NArg() != 1 || !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(flag.Arg(0)) {
		log.Fatal("usage: go run . [-first] [-manifest FILE] [-unlisted] [-whole] X.Y.Z")
	}
	if *first {
		if err := regenerateFirst(flag.Arg(0)); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := regenerate(flag.Arg(0), *given, *unlisted, *whole); err != nil {
		log.Fatal(err)
	}
}

// regenerateFirst writes the package `first` into the folder of a version.
func regenerateFirst(version string) error {
	module, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	folder := filepath.Join(module, "versions", version)
	text, err := manifestText("", folder)
	if err != nil {
		return err
	}
	whole, err := readManifest(text)
	if err != nil {
		return err
	}
	lacking, err := lackingIn(folder, whole)
	if err != nil {
		return err
	}
	b := &build{module: module, work: folder, version: version, whole: whole, lacking: lacking}
	return b.writeFirst()
}

// regenerate works in a new folder beside the old one, which it replaces in the end.
func regenerate(version, given string, unlisted, wholeOnly bool) error {
	module, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	folder := filepath.Join(module, "versions", version)
	text, err := manifestText(given, folder)
	if err != nil {
		return err
	}
	whole, err := readManifest(text)
	if err != nil {
		return err
	}
	if whole.version() != version {
		return fmt.Errorf("the manifest is that of version %s", whole.version())
	}
	work, err := os.MkdirTemp(filepath.Join(module, "versions"), "."+version+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	b := &build{module: module, work: work, version: version, whole: whole, unlisted: unlisted, wholeOnly: wholeOnly}
	if err := b.run(); err != nil {
		return err
	}
	header := fmt.Sprintf("# The official manifest of otelcol-contrib %s, from\n# %s\n# After a change run regenerate.\n",
		version, fmt.Sprintf(source, version))
	if err := os.WriteFile(filepath.Join(work, "manifest.yaml"), []byte(header+text), 0o644); err != nil {
		return err
	}
	if err := os.Chmod(work, 0o755); err != nil {
		return err
	}
	old := folder + ".old"
	if err := os.Rename(folder, old); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.Rename(work, folder); err != nil {
		return err
	}
	return os.RemoveAll(old)
}

var heading = regexp.MustCompile(`^(?:#.*\n)+`)

// manifestText is the official manifest without the heading that an earlier run put before it.
func manifestText(given, folder string) (string, error) {
	if given == "" {
		given = filepath.Join(folder, "manifest.yaml")
	}
	text, err := os.ReadFile(given)
	return heading.ReplaceAllString(string(text), ""), err
}
