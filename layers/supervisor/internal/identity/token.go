package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"regexp"

	"github.com/headgate/headgate/layers/supervisor/internal/files"
)

const tokenName = "headgate-token.json"

var tokenForm = regexp.MustCompile(`^ft_[A-Za-z0-9_-]{43}$`)

// Token is what this host signs in with: the token that it was installed with, or the one that took its place. One
// message at a time uses it.
type Token struct {
	storage, deploymentID string
	saved                 savedToken
	current               string
}

// savedToken is the file. Installed is the hash of the token that the host was installed with: the file counts as long as
// that is the same. Before has the one before Renewed, until Headgate has answered a message with that.
type savedToken struct {
	Installed string `json:"installed"`
	Renewed   string `json:"renewed"`
	Before    string `json:"before,omitempty"`
}

// ReadToken returns the token of the storage folder, or the installed one if there is none, or another was installed
// since.
func ReadToken(storage, deploymentID, installed string) *Token {
	t := &Token{storage: storage, deploymentID: deploymentID, current: installed}
	digest := hashed(installed)
	content, err := files.Read(filepath.Join(storage, tokenName), largest)
	var found savedToken
	if err == nil {
		err = json.Unmarshal(content, &found)
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		log.Printf("%s cannot be read, and the installed token counts: %v", filepath.Join(storage, tokenName), err)
	case found.Installed == digest && tokenForm.MatchString(found.Renewed):
		t.saved, t.current = found, found.Renewed
		return t
	}
	t.saved = savedToken{Installed: digest}
	return t
}

// Headers returns the headers of a message, and what it is signed with: a captured one is good for nothing with another
// token, or in another deployment.
func (t *Token) Headers() (http.Header, string) {
	headers := http.Header{"Authorization": {"Bearer " + t.current}, "X-Deployment-Id": {t.deploymentID}}
	return headers, hashed(t.current) + "\n" + t.deploymentID
}

// Renew takes the token that was sealed for this host. The next message comes with it.
func (t *Token) Renew(key *Key, sealed []byte) error {
	opened, err := key.Open(sealed)
	if err != nil {
		return err
	}
	if !tokenForm.Match(opened) {
		return errors.New("what was sealed for this host is not a token")
	}
	if string(opened) == t.current {
		return nil
	}
	next := savedToken{Installed: t.saved.Installed, Renewed: string(opened), Before: t.current}
	if err := t.save(next); err != nil {
		return err
	}
	t.current = next.Renewed
	return nil
}

// Answered notes the status of the answer to a message. It reports whether the message is to be sent again: with the
// token before, if Headgate does not know the renewed one.
func (t *Token) Answered(status int) bool {
	if t.saved.Before == "" || (status != http.StatusOK && status != http.StatusUnauthorized) {
		return false
	}
	next := t.saved
	next.Before = ""
	if status == http.StatusUnauthorized {
		t.current, next.Renewed = t.saved.Before, t.saved.Before
		log.Print("Headgate does not know the renewed token: this host goes on with the one before")
	}
	if err := t.save(next); err != nil {
		log.Print(err)
	}
	return status == http.StatusUnauthorized
}

func (t *Token) save(next savedToken) error {
	content, err := json.Marshal(next)
	if err == nil {
		err = files.Replace(filepath.Join(t.storage, tokenName), content)
	}
	if err != nil {
		return fmt.Errorf("save the renewed token: %w", err)
	}
	t.saved = next
	return nil
}

func hashed(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
