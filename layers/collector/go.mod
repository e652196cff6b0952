module github.com/headgate/headgate/layers/collector

go 1.24.0
