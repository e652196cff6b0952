package identity_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/headgate/headgate/layers/supervisor/internal/identity"
)

const (
	one   = "01a1fd17-efb5-7344-83ff-412556e93d38"
	other = "01a1fd14-e476-7c08-866c-cb2f0ac51d2e"
)

func write(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func prepared(t *testing.T, storage, machine string) *identity.Identity {
	t.Helper()
	i, err := identity.Prepare(storage, machine)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// ran is a storage in which the supervisor ran as `one`, and the id of its machine.
func ran(t *testing.T) (storage, machine string) {
	t.Helper()
	storage = t.TempDir()
	machine = "aaaa\n"
	i := prepared(t, storage, machine)
	write(t, filepath.Join(storage, "persistent_state.yaml"), "instance_id: "+one+"\nlast_remote_config_status: null\n")
	if err := i.Save(); err != nil {
		t.Fatal(err)
	}
	return storage, machine
}

func TestAStateThatIsWholeIsLeftAlone(t *testing.T) {
	storage, machine := ran(t)
	if i := prepared(t, storage, machine); i.ID != "" {
		t.Errorf("%q", i.ID)
	}
	if _, err := os.Stat(filepath.Join(storage, "persistent_state.yaml")); err != nil {
		t.Error(err)
	}
}

func TestAStateThatIsLostOrDamagedIsTakenUpAgain(t *testing.T) {
	for name, content := range map[string]string{
		"empty":    "",
		"zeros":    "\x00\x00\x00",
		"cut off":  "instance_id: 01a1f",
		"no id":    "last_remote_config_status: null\n",
		"the zero": "instance_id: 00000000-0000-0000-0000-000000000000\n",
		"no YAML":  "{",
	} {
		t.Run(name, func(t *testing.T) {
			storage, machine := ran(t)
			path := write(t, filepath.Join(storage, "persistent_state.yaml"), content)
			if i := prepared(t, storage, machine); i.ID != one {
				t.Errorf("%q, not %q", i.ID, one)
			}
			if _, err := os.Stat(path); !os.IsNotExist(err) {
				t.Errorf("the damaged file is still there: %v", err)
			}
		})
	}
	storage, machine := ran(t)
	if err := os.Remove(filepath.Join(storage, "persistent_state.yaml")); err != nil {
		t.Fatal(err)
	}
	if i := prepared(t, storage, machine); i.ID != one {
		t.Errorf("lost: %q, not %q", i.ID, one)
	}
}

func TestADamagedStateThatNothingWasKeptOfBeginsAnew(t *testing.T) {
	storage := t.TempDir()
	path := write(t, filepath.Join(storage, "persistent_state.yaml"), "")
	if i := prepared(t, storage, "/nonexistent"); i.ID != "" {
		t.Errorf("%q", i.ID)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the damaged file is still there: %v", err)
	}
}

func TestACopyOnAnotherMachineIsAnotherInstance(t *testing.T) {
	storage, _ := ran(t)
	machine := "bbbb\n"
	i := prepared(t, storage, machine)
	if i.ID != "" {
		t.Errorf("it would take the id of the other: %q", i.ID)
	}
	path := filepath.Join(storage, "persistent_state.yaml")
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Fatalf("the other's state is still there: %v", err)
	}
	write(t, path, "instance_id: "+other+"\n")
	if err := i.Save(); err != nil {
		t.Fatal(err)
	}
	// From now on this is its own.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if i := prepared(t, storage, machine); i.ID != other {
		t.Errorf("%q, not %q", i.ID, other)
	}
}

func TestWithoutAMachineIDAStorageKeepsItsInstance(t *testing.T) {
	storage, _ := ran(t)
	for _, id := range []string{"", "uninitialized\n"} {
		prepared(t, storage, id)
		if _, err := os.Stat(filepath.Join(storage, "persistent_state.yaml")); err != nil {
			t.Error(err)
		}
	}
}
