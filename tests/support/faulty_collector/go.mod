module github.com/headgate/headgate/tests/support/faulty_collector

go 1.24
