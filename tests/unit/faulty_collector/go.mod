module github.com/headgate/headgate/tests/unit/faulty_collector

go 1.24
