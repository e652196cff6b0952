module github.com/headgate/headgate/layers/collector/mutation

go 1.24.0
