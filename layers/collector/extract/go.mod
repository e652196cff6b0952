module github.com/headgate/headgate/layers/collector/extract

go 1.24.0

require go.yaml.in/yaml/v3 v3.0.4
