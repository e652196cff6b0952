module github.com/headgate/headgate/layers/collector/generation

go 1.24.0
