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

// form is a signed POST for S3. Its signed policy limits what it may store, and under which name.
type form struct {
	URL    string            `json:"url"`
	Fields map[string]string `json:"fields"`
}

// files reads and stores the files of one run with signed links. A link is a secret, so errors do not contain it.
type files struct {
	client *http.Client
	// wait is how long to wait before trying again.
	wait time.Duration
}

const attempts = 4

func newFiles() *files {
	// No proxy and no redirects.
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

// get returns a link's file, of up to that many bytes.
func (f *files) get(ctx context.Context, name, link string, most int64) ([]byte, error) {
	return f.ask(ctx, "fetching "+name, http.StatusOK, most, func() (*http.Request, error) {
		return request(ctx, http.MethodGet, link, nil)
	})
}

// post stores a file with its form.
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
		post, err := request(ctx, http.MethodPost, form.URL, bytes.NewReader(body.Bytes()))
		if err == nil {
			post.Header.Set("Content-Type", parts.FormDataContentType())
		}
		return post, err
	})
	return err
}

// request requires https, except on this machine: the local service has no TLS.
func request(ctx context.Context, method, link string, body io.Reader) (*http.Request, error) {
	address, err := url.Parse(link)
	if err != nil || address.Host == "" {
		return nil, errors.New("its link is not a URL")
	}
	ip := net.ParseIP(address.Hostname())
	loopback := address.Hostname() == "localhost" || (ip != nil && ip.IsLoopback())
	if address.Scheme != "https" && !(address.Scheme == "http" && loopback) {
		return nil, errors.New("its link does not start with https://")
	}
	return http.NewRequestWithContext(ctx, method, link, body)
}

// ask sends a request until it is answered with that status, and returns the answer's body. It retries if the failure
// may pass: no answer, an incomplete answer, status 429 or 5xx.
func (f *files) ask(
	ctx context.Context, doing string, status int, most int64, make func() (*http.Request, error),
) ([]byte, error) {
	wait := f.wait
	for attempt := 1; ; attempt++ {
		next, err := make()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", doing, err)
		}
		answer, passes, err := f.once(next, status, most)
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

func (f *files) once(request *http.Request, status int, most int64) (content []byte, passes bool, err error) {
	answer, err := f.client.Do(request)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			// The wrapping error contains the link.
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
