package programs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/headgate/headgate/layers/supervisor/internal/files"
)

const (
	// Folder is in the supervisor's storage; stateFile in it says which program is to run.
	Folder    = "programs"
	stateFile = "current.json"
	partial   = ".part-"
	mostState = 64 << 10
	// A program, and the folder that it is alone in.
	modeProgram, modeFolder = 0o500, 0o500
)

// Identity tells a file that was verified from another one. Nobody but the kernel sets the time of its last change.
type Identity struct {
	Device  uint64 `json:"device"`
	Inode   uint64 `json:"inode"`
	Size    int64  `json:"size"`
	Changed int64  `json:"changed"`
}

// Known is a program that was verified.
type Known struct {
	Version  string   `json:"version"`
	Identity Identity `json:"identity"`
}

// Trial is a change that has not proved itself: the program before, and the configuration that came with the new one.
type Trial struct {
	Before     string `json:"before"`
	ConfigHash []byte `json:"config_hash"`
}

// Failure is why a change was undone, of which the service is to be told.
type Failure struct {
	ConfigHash []byte `json:"config_hash"`
	Reason     string `json:"reason"`
}

// State says which program runs, by its hash or "" for the installed one, and what to go back to.
type State struct {
	Current string           `json:"current"`
	Before  string           `json:"before"`
	Trial   *Trial           `json:"trial,omitempty"`
	Failure *Failure         `json:"failure,omitempty"`
	Known   map[string]Known `json:"known"`
	// Installed is the hash of the supervisor that was installed when another one took its place.
	Installed string `json:"installed,omitempty"`
}

// Store are the programs below a folder. name is that of their files.
type Store struct {
	folder string
	name   string
	State  State
}

// Open reads what is there. What a fetch that was killed has left is removed.
func Open(storage, name string) (*Store, error) {
	s := &Store{folder: filepath.Join(storage, Folder), name: name}
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of programs: %w", err)
	}
	content, err := files.Read(filepath.Join(s.folder, name+"-"+stateFile), mostState)
	if err == nil {
		err = json.Unmarshal(content, &s.State)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		log.Printf("which %s ran is not known, so that the installed one runs: %v", name, err)
		s.State = State{}
	}
	if s.State.Known == nil {
		s.State.Known = map[string]Known{}
	}
	left, _ := filepath.Glob(filepath.Join(s.folder, partial+name+"-*"))
	for _, path := range left {
		_ = os.Remove(path)
	}
	return s, nil
}

// Path is where a program is.
func (s *Store) Path(id string) string { return filepath.Join(s.folder, id, s.name) }

// Fetch brings a program here, or finds that it is; `before` is what was known of it. The program is not to run yet. It
// reads nothing of the state, so that others may change that meanwhile.
func (s *Store) Fetch(ctx context.Context, endpoint string, target Target, before Known) (Known, error) {
	if known, err := s.verified(target, before); err == nil {
		return known, nil
	}
	address, err := target.Address(endpoint)
	if err != nil {
		return Known{}, err
	}
	part, err := os.CreateTemp(s.folder, partial+s.name+"-*")
	if err != nil {
		return Known{}, err
	}
	defer func() { _ = os.Remove(part.Name()) }()
	err = Download(ctx, address, target, part)
	if closing := part.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = fits(part.Name())
	}
	if err != nil {
		return Known{}, err
	}
	return s.place(part.Name(), target)
}

// place moves a verified file to its place at once, so that no incomplete program is ever there.
func (s *Store) place(part string, target Target) (Known, error) {
	folder := filepath.Join(s.folder, target.ID())
	if err := s.remove(target.ID()); err != nil {
		return Known{}, err
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return Known{}, err
	}
	if err := os.Chmod(part, modeProgram); err != nil {
		return Known{}, err
	}
	if err := os.Rename(part, s.Path(target.ID())); err != nil {
		return Known{}, err
	}
	if err := os.Chmod(folder, modeFolder); err != nil {
		return Known{}, err
	}
	for _, changed := range []string{folder, s.folder} {
		if err := files.Sync(changed); err != nil {
			return Known{}, err
		}
	}
	file, found, err := open(s.Path(target.ID()))
	if err != nil {
		return Known{}, err
	}
	return Known{Version: target.Version, Identity: found}, file.Close()
}

// verified finds a program that is here already.
func (s *Store) verified(target Target, before Known) (Known, error) {
	if err := intact(s.Path(target.ID()), target.ID(), before.Identity); err != nil {
		return Known{}, err
	}
	file, found, err := open(s.Path(target.ID()))
	if err != nil {
		return Known{}, err
	}
	return Known{Version: target.Version, Identity: found}, file.Close()
}

// Has reports whether a program is here and is the file that was verified, without reading it.
func (s *Store) Has(id string) bool {
	if id == "" {
		return true
	}
	file, found, err := open(s.Path(id))
	if err != nil {
		return false
	}
	_ = file.Close()
	return s.State.Known[id].Identity == found
}

// Version is that of a program that was fetched, "" if it is not known.
func (s *Store) Version(id string) string { return s.State.Known[id].Version }

// Save writes the state, which decides what runs from then on.
func (s *Store) Save() error {
	content, err := json.Marshal(s.State)
	if err != nil {
		return err
	}
	if err := files.Replace(filepath.Join(s.folder, s.name+"-"+stateFile), content); err != nil {
		return err
	}
	return files.Sync(s.folder)
}

// Prune removes the programs to which nothing goes back.
func (s *Store) Prune(more ...string) {
	kept := map[string]bool{s.State.Current: true, s.State.Before: true}
	for _, id := range more {
		kept[id] = true
	}
	for id := range s.State.Known {
		if !kept[id] {
			delete(s.State.Known, id)
		}
	}
	entries, _ := os.ReadDir(s.folder)
	for _, entry := range entries {
		if _, err := os.Stat(s.Path(entry.Name())); isHash(entry.Name()) && !kept[entry.Name()] && err == nil {
			if err := s.remove(entry.Name()); err != nil {
				log.Printf("a program that is not needed any more stays: %v", err)
			}
		}
	}
}

func (s *Store) remove(id string) error {
	folder := filepath.Join(s.folder, id)
	if err := os.Chmod(folder, 0o700); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	}
	return os.RemoveAll(folder)
}

// Start is the path of the program that is to run, installed if it is not one of those here. It reads the whole program
// only if it is not the file that was verified before.
func Start(storage, name, installed string) string {
	folder := filepath.Join(storage, Folder)
	content, err := files.Read(filepath.Join(folder, name+"-"+stateFile), mostState)
	var state State
	if err == nil && json.Unmarshal(content, &state) == nil && isHash(state.Current) {
		path := filepath.Join(folder, state.Current, name)
		if err := intact(path, state.Current, state.Known[state.Current].Identity); err != nil {
			log.Printf("the %s that was installed runs, since the one that is to run cannot: %v", name, err)
			return installed
		}
		return path
	}
	return installed
}

func intact(path, id string, before Identity) error {
	file, found, err := open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if found == before {
		return nil
	}
	return verify(file, id)
}

func verify(file *os.File, id string) error {
	seen := sha256.New()
	if _, err := io.Copy(seen, io.LimitReader(file, largest+1)); err != nil {
		return err
	}
	if got := hex.EncodeToString(seen.Sum(nil)); !strings.EqualFold(got, id) {
		return fmt.Errorf("its SHA-256 is %s, not %s", got, id)
	}
	_, err := file.Seek(0, io.SeekStart)
	return err
}
