package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// form is a signed POST as S3 takes it: what it may store, and under which name, stands in its signed policy.
type form struct {
	URL    string            `json:"url"`
	Fields map[string]string `json:"fields"`
}

// files reads and stores the files of one run by links that are signed for them. A link is a secret: no error says it.
type files struct {
	client *http.Client
	// wait is how long to wait before trying again.
	wait time.Duration
}

const attempts = 4

func newFiles() *files {
	// Through no proxy, and nowhere but where a link leads.
	transport := &http.Transport{
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSHandshakeTimeout:   5 * time.Second,
		ResponseHeaderTimeout: 20 * time.Second,
	}
	return &files{
		client: &http.Client{
			Transport: transport, Timeout: time.Minute,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		wait: 200 * time.Millisecond,
	}
}

// get is the file behind a link, of up to that many bytes.
func (f *files) get(ctx context.Context, name, link string, most int64) ([]byte, error) {
	return f.ask(ctx, "fetching "+name, http.StatusOK, most, func() (*http.Request, error) {
		return request(ctx, http.MethodGet, link, nil)
	})
}

// post stores a file by its form.
func (f *files) post(ctx context.Context, name string, form form, content []byte) error {
	var body bytes.Buffer
	parts := multipart.NewWriter(&body)
	for _, field := range slices.Sorted(maps.Keys(form.Fields)) {
		if err := parts.WriteField(field, form.Fields[field]); err != nil {
			return err
		}
	}
	// S3 reads no field after the file.
	file, err := parts.CreateFormFile("file", name)
	if err != nil {
		return err
	}
	if _, err := file.Write(content); err != nil {
		return err
	}
	if err := parts.Close(); err != nil {
		return err
	}
	_, err = f.ask(ctx, "storing "+name, http.StatusNoContent, largestTask, func() (*http.Request, error) {
		made, err := request(ctx, http.MethodPost, form.URL, bytes.NewReader(body.Bytes()))
		if err == nil {
			made.Header.Set("Content-Type", parts.FormDataContentType())
		}
		return made, err
	})
	return err
}

// request is for an address with TLS, or on this machine: the local service has no other.
func request(ctx context.Context, method, link string, body io.Reader) (*http.Request, error) {
	address, err := url.Parse(link)
	if err != nil || address.Host == "" {
		return nil, errors.New("its link is not one")
	}
	ip := net.ParseIP(address.Hostname())
	loopback := address.Hostname() == "localhost" || (ip != nil && ip.IsLoopback())
	if address.Scheme != "https" && !(address.Scheme == "http" && loopback) {
		return nil, errors.New("its link is not for https")
	}
	return http.NewRequestWithContext(ctx, method, link, body)
}

// ask makes a request until it is answered with that status, and returns what was answered. It tries again after what
// may pass: no answer, an answer that broke off, too many requests, and the server's own faults.
func (f *files) ask(
	ctx context.Context, doing string, status int, most int64, make func() (*http.Request, error),
) ([]byte, error) {
	wait := f.wait
	for attempt := 1; ; attempt++ {
		made, err := make()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", doing, err)
		}
		answer, passes, err := f.once(made, status, most)
		if err == nil {
			return answer, nil
		}
		if !passes || attempt == attempts || ctx.Err() != nil {
			return nil, fmt.Errorf("%s: %w", doing, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait *= 2
	}
}

func (f *files) once(made *http.Request, status int, most int64) (content []byte, passes bool, err error) {
	answer, err := f.client.Do(made)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			// It says the link.
			err = failed.Err
		}
		return nil, true, err
	}
	defer answer.Body.Close()
	content, err = io.ReadAll(io.LimitReader(answer.Body, most+1))
	switch {
	case err != nil:
		return nil, true, err
	case answer.StatusCode != status:
		passes := answer.StatusCode >= 500 || answer.StatusCode == http.StatusTooManyRequests
		return nil, passes, fmt.Errorf("status %d", answer.StatusCode)
	case int64(len(content)) > most:
		return nil, false, fmt.Errorf("it is larger than %d bytes", most)
	}
	return content, false, nil
}
