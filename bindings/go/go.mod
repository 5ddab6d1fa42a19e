module github.com/odradek-kafka/odradek/bindings/go

go 1.22
