package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// bucket holds the files of one run under a prefix.
type bucket struct {
	client       *s3.Client
	name, prefix string
}

func newBucket(ctx context.Context, name, prefix string) (*bucket, error) {
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("finding AWS: %w", err)
	}
	client := s3.NewFromConfig(settings, func(options *s3.Options) {
		// An endpoint of our own has no host name for each bucket.
		options.UsePathStyle = os.Getenv("AWS_ENDPOINT_URL") != ""
	})
	return &bucket{client, name, prefix}, nil
}

func (b *bucket) get(ctx context.Context, file string) ([]byte, error) {
	object, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: b.key(file)})
	if err != nil {
		return nil, fmt.Errorf("fetching %s: %w", file, err)
	}
	defer object.Body.Close()
	content, err := io.ReadAll(object.Body)
	if err != nil {
		return nil, fmt.Errorf("fetching %s: %w", file, err)
	}
	return content, nil
}

func (b *bucket) put(ctx context.Context, file string, content []byte) error {
	_, err := b.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.name, Key: b.key(file), Body: bytes.NewReader(content),
		ContentType: aws.String("text/plain; charset=utf-8"),
	})
	if err != nil {
		return fmt.Errorf("storing %s: %w", file, err)
	}
	return nil
}

func (b *bucket) key(file string) *string {
	return aws.String(path.Join(b.prefix, file))
}
