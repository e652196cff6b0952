package install

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// label is the service's name for launchd.
const label = "dev.headgate.supervisor"

// launchd is the service manager of macOS, with the folder of its daemons and the command that speaks to it.
type launchd struct {
	folder    string
	launchctl string
}

func (l launchd) file() string { return filepath.Join(l.folder, label+".plist") }

// Stop returns when the service has ended: `bootout` waits for that.
func (l launchd) Stop() error {
	if _, err := os.Stat(l.file()); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if l.control("print", "system/"+label) != nil {
		return nil
	}
	return l.control("bootout", "system/"+label)
}

func (l launchd) Start(program string, arguments []string) error {
	if err := os.WriteFile(l.file(), propertyList(program, arguments), 0o644); err != nil {
		return err
	}
	return l.control("bootstrap", "system", l.file())
}

func (l launchd) Remove() error {
	if err := l.Stop(); err != nil {
		return err
	}
	if err := os.Remove(l.file()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (l launchd) control(words ...string) error {
	if said, err := exec.Command(l.launchctl, words...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", l.launchctl, strings.Join(words, " "), err, bytes.TrimSpace(said))
	}
	return nil
}

// propertyList is the service as launchd reads it. It starts the program again, five seconds after it has ended, and gives
// it half a minute to stop.
func propertyList(program string, arguments []string) []byte {
	var words strings.Builder
	for _, word := range append([]string{program}, arguments...) {
		words.WriteString("\n    <string>")
		_ = xml.EscapeText(&words, []byte(word))
		words.WriteString("</string>")
	}
	return []byte(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>` + label + `</string>
  <key>ProgramArguments</key>
  <array>` + words.String() + `
  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <true/>
  <key>ThrottleInterval</key>
  <integer>5</integer>
  <key>ExitTimeOut</key>
  <integer>30</integer>
  <key>ProcessType</key>
  <string>Background</string>
  <key>SoftResourceLimits</key>
  <dict>
    <key>NumberOfFiles</key>
    <integer>65536</integer>
  </dict>
  <key>Umask</key>
  <integer>63</integer>
</dict>
</plist>
`)
}
