package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/headgate/headgate/layers/supervisor/internal/files"
	"github.com/headgate/headgate/layers/supervisor/internal/identity"
	"github.com/headgate/headgate/layers/supervisor/internal/programs"
	"github.com/headgate/headgate/layers/supervisor/internal/system"
)

const (
	// marker is the file by which a folder is known to be an install's.
	marker = ".headgate-installed"
	// mostStored bounds what the server stores with a group.
	mostStored   = 2 << 20
	healthy      = "http://127.0.0.1:13143/health"
	answersIn    = time.Minute
	asksEvery    = 250 * time.Millisecond
	readyWithin  = 2 * time.Minute
	healthOption = "HEADGATE_HEALTH_ENDPOINT"
)

// manager starts programs with the machine.
type manager interface {
	// Stop stops the service, if there is one, and waits for its end.
	Stop() error
	// Start makes the service, or changes the one that is there, and starts it.
	Start(program string, arguments []string) error
	// Remove stops the service and removes it.
	Remove() error
}

// own are the variables that an install sets.
var own = []string{
	"HEADGATE_ENDPOINT", "HEADGATE_DEPLOYMENT_ID", "HEADGATE_FLEET_TOKEN", "HEADGATE_FLEET_TOKEN_FILE", "HEADGATE_COLLECTOR",
	"HEADGATE_STORAGE", "HEADGATE_PLATFORM",
}

// Install carries out an order; `self` is this program, which is to run. A folder that an install made before gets what
// has changed, and keeps the variables that this order does not name.
func Install(ctx context.Context, order *Order, self string) error {
	services, err := services()
	if err != nil {
		return err
	}
	return install(ctx, order, self, services)
}

func install(ctx context.Context, order *Order, self string, services manager) error {
	if err := requireToken(ctx, order); err != nil {
		return err
	}
	if err := prepare(order.Root); err != nil {
		return err
	}
	at := func(names ...string) string { return filepath.Join(append([]string{order.Root}, names...)...) }
	collector, err := fetched(ctx, order)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(collector) }()
	stored, err := storedVariables(ctx, order, at("var"))
	if err != nil {
		return err
	}
	variables, err := environment(at("etc", "environment"), order, stored)
	if err != nil {
		return err
	}
	program := at("bin", system.Program("headgate-supervisor"))
	_, err = os.Stat(program)
	runs := err == nil
	// Windows replaces no program that runs.
	if err := services.Stop(); err != nil {
		return fmt.Errorf("stop the service: %w", err)
	}
	logged := at("var", "supervisor.log")
	start := func() error {
		return services.Start(program, []string{"--environment", at("etc", "environment"), "--log", logged})
	}
	if err := place(order, self, collector, program, variables); err != nil {
		if runs {
			// What ran before goes on.
			err = errors.Join(err, start())
		}
		return err
	}
	if err := start(); err != nil {
		return fmt.Errorf("start the service: %w", err)
	}
	if err := waitUntilHealthy(ctx, health(variables)); err != nil {
		return fmt.Errorf("the supervisor did not become ready: %w; the reason is in %s", err, logged)
	}
	return nil
}

// place puts the programs and the files of the connection where the service reads them.
func place(order *Order, self, collector, program string, variables []byte) error {
	at := func(names ...string) string { return filepath.Join(append([]string{order.Root}, names...)...) }
	if err := os.Rename(collector, at("bin", system.Program("otelcol-contrib"))); err != nil {
		return fmt.Errorf("put the collector in place: %w", err)
	}
	if err := copied(self, program); err != nil {
		return fmt.Errorf("put the supervisor in place: %w", err)
	}
	if err := files.Replace(at("etc", "token"), []byte(order.Token+"\n")); err != nil {
		return err
	}
	return files.Replace(at("etc", "environment"), variables)
}

// Uninstall removes what an install made in a folder, and its service. The supervisor tells that the host does not come
// back.
func Uninstall(root string) error {
	services, err := services()
	if err != nil {
		return err
	}
	return uninstall(root, services)
}

func uninstall(root string, services manager) error {
	if err := checkRoot(root); err != nil {
		return err
	}
	if !installed(root) {
		return fmt.Errorf("Headgate is not installed in %s; nothing was removed", root)
	}
	_ = os.Mkdir(filepath.Join(root, "var", "uninstalled"), 0o700)
	if err := services.Remove(); err != nil {
		return fmt.Errorf("remove the service: %w", err)
	}
	var failed []error
	for _, name := range []string{"bin", "etc", "var", marker} {
		failed = append(failed, removeTree(filepath.Join(root, name)))
	}
	// Anything else in it is somebody else's.
	_ = os.Remove(root)
	return errors.Join(failed...)
}

// removeTree removes a folder with all that is in it, and follows no link.
func removeTree(path string) error {
	entries, err := os.ReadDir(path)
	if err == nil {
		for _, entry := range entries {
			if err := removeTree(filepath.Join(path, entry.Name())); err != nil {
				return err
			}
		}
	}
	if err := system.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func installed(root string) bool {
	content, err := files.Read(filepath.Join(root, marker), 4<<10)
	return err == nil && string(content) == root
}

// prepare makes the folders. It takes only an empty folder, one that an install made, or that of the package for Windows.
func prepare(root string) error {
	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(entries) > 0 && !installed(root) && !packaged(root, entries) {
		return fmt.Errorf("%s contains files that no install created; name an empty folder, or one that does not exist yet", root)
	}
	if err := os.MkdirAll(filepath.Join(root, "bin"), 0o755); err != nil {
		return err
	}
	for _, name := range []string{"etc", "var"} {
		folder := filepath.Join(root, name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
		if err := system.Private(folder); err != nil {
			return fmt.Errorf("keep others out of %s: %w", folder, err)
		}
	}
	return files.Replace(filepath.Join(root, marker), []byte(root))
}

// packaged reports whether a folder has the program, and nothing else: a package put it there.
func packaged(root string, entries []os.DirEntry) bool {
	if len(entries) != 1 || entries[0].Name() != "bin" {
		return false
	}
	programs, err := os.ReadDir(filepath.Join(root, "bin"))
	return err == nil && len(programs) == 1 && programs[0].Name() == system.Program("headgate-supervisor") &&
		programs[0].Type().IsRegular()
}

// fetched is the path of the collector, verified, in the folder where it is to be.
func fetched(ctx context.Context, order *Order) (string, error) {
	address, err := order.collector.Address(order.Files)
	if err != nil {
		return "", err
	}
	file, err := os.CreateTemp(filepath.Join(order.Root, "bin"), ".part-*"+system.Program(""))
	if err != nil {
		return "", err
	}
	log.Printf("fetching the collector, %d MB", order.collector.Size>>20)
	err = programs.Download(ctx, address, order.collector, file)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Chmod(file.Name(), 0o755)
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return "", fmt.Errorf("fetch the collector: %w", err)
	}
	return file.Name(), nil
}

// storedVariables are the entries that are stored with the group, the secrets sealed for this host.
func storedVariables(ctx context.Context, order *Order, storage string) ([]byte, error) {
	if !order.Stored {
		return nil, nil
	}
	headers := http.Header{"Authorization": {"Bearer " + order.Token}, "X-Install-Code": {order.Code}}
	plain, err := ask(ctx, http.MethodGet, order.address("variables"), headers)
	if err != nil {
		return nil, fmt.Errorf("fetch the variables that are stored with the group: %w", err)
	}
	if order.Code == "" {
		return plain, nil
	}
	key, err := identity.ReadKey(storage)
	if err != nil {
		return nil, err
	}
	headers.Set("X-Host-Key", key.Public())
	sealed, err := ask(ctx, http.MethodPost, order.address("secrets"), headers)
	if err != nil {
		return nil, fmt.Errorf("fetch the secrets that are stored with the group: %w", err)
	}
	opened, err := key.Open(sealed)
	if err != nil {
		return nil, fmt.Errorf("open the secrets that are stored with the group: %w", err)
	}
	return slices.Concat(plain, opened), nil
}

// environment is the file of variables: those of before that the order does not name, its own, the stored ones, and those
// of the connection. The last of two entries counts.
func environment(path string, order *Order, stored []byte) ([]byte, error) {
	var entries [][]byte
	before, err := files.Read(path, mostStored)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read the variables of the install before: %w", err)
	}
	replaced := slices.Clone(own)
	for _, entry := range bytes.Split(stored, []byte{0}) {
		name, _, _ := strings.Cut(string(entry), "=")
		replaced = append(replaced, name)
	}
	for _, entry := range bytes.Split(before, []byte{0}) {
		name, _, _ := strings.Cut(string(entry), "=")
		if _, renewed := order.Variables[name]; name != "" && !renewed && !slices.Contains(replaced, name) {
			entries = append(entries, entry)
		}
	}
	for name, value := range order.Variables {
		// As on Linux, an empty value removes a variable.
		if value != "" {
			entries = append(entries, []byte(name+"="+value))
		}
	}
	entries = append(entries, bytes.TrimSuffix(stored, []byte{0}))
	at := func(names ...string) string { return filepath.Join(append([]string{order.Root}, names...)...) }
	for _, entry := range []string{
		"HEADGATE_ENDPOINT=" + order.Endpoint, "HEADGATE_DEPLOYMENT_ID=" + order.DeploymentID,
		"HEADGATE_FLEET_TOKEN_FILE=" + at("etc", "token"), "HEADGATE_FLEET_TOKEN=",
		"HEADGATE_COLLECTOR=" + at("bin", system.Program("otelcol-contrib")),
		"HEADGATE_STORAGE=" + at("var"), "HEADGATE_PLATFORM=" + order.Platform,
	} {
		entries = append(entries, []byte(entry))
	}
	entries = slices.DeleteFunc(entries, func(entry []byte) bool { return len(entry) == 0 })
	return append(bytes.Join(entries, []byte{0}), 0), nil
}

// health is where the supervisor says that it is ready.
func health(variables []byte) string {
	address := healthy
	for _, entry := range strings.Split(string(variables), "\x00") {
		if value, is := strings.CutPrefix(entry, healthOption+"="); is && value != "" {
			address = "http://" + value + "/health"
		}
	}
	return address
}

// requireToken asks whether Headgate accepts the token, before anything is changed.
func requireToken(ctx context.Context, order *Order) error {
	headers := http.Header{
		"Authorization": {"Bearer " + order.Token}, "X-Deployment-Id": {order.DeploymentID},
		"Content-Type": {"application/x-protobuf"},
	}
	_, err := ask(ctx, http.MethodPost, order.Endpoint, headers)
	var refused *statusError
	switch {
	case !errors.As(err, &refused):
		return err
	case refused.code == http.StatusUnauthorized || refused.code == http.StatusForbidden:
		return fmt.Errorf("Headgate does not accept the token (HTTP %d): it was renewed, or has expired; compose a new command", refused.code)
	}
	return nil
}

type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the server answers HTTP %d: %q", e.code, e.text)
}

func ask(ctx context.Context, method, address string, headers http.Header) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answersIn)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, err
	}
	request.Header = headers
	client := &http.Client{CheckRedirect: programs.Redirect}
	answer, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%s does not answer from this host: %w", request.URL.Host, errors.Unwrap(err))
	}
	defer func() { _ = answer.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(answer.Body, mostStored))
	if err == nil && answer.StatusCode != http.StatusOK {
		return nil, &statusError{answer.StatusCode, strings.ToValidUTF8(string(content[:min(len(content), 300)]), "?")}
	}
	return content, err
}

func copied(from, to string) error {
	if here, err := os.Stat(to); err == nil {
		if there, err := os.Stat(from); err == nil && os.SameFile(here, there) {
			return nil
		}
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	part, err := os.OpenFile(to+".part", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(part, source)
	if closing := part.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(part.Name(), to)
}

func waitUntilHealthy(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	var last error
	for {
		_, err := ask(ctx, http.MethodGet, address, http.Header{})
		if err == nil {
			return nil
		}
		// That the time is over does not say why the supervisor did not answer.
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("within %v: %w", readyWithin, last)
		case <-time.After(asksEvery):
		}
	}
}
