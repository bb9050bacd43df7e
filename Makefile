# headroom: every target explains itself in `make help`.
.DEFAULT_GOAL := help
SHELL := /bin/bash

GO        ?= go
PKGS      ?= ./...
FUZZTIME  ?= 30s
TARGETS   ?= $(foreach os,linux darwin windows,$(os)/amd64 $(os)/arm64)
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS   := -X main.version=$(VERSION)
export HEADROOM_DATA ?= $(abspath ../shared/data)

.PHONY: help build fmt fmt-check vet lint deps test race cover integration fuzz golden bench demo readme-picture check ci cross clean

help: ## say what every target does
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/headroom
	$(GO) build -trimpath -ldflags "$(LDFLAGS)" -o bin/headroom ./cmd/headroom

fmt: ## format all Go files (gofumpt)
	$(GO) tool gofumpt -w $$(git ls-files '*.go')

fmt-check: ## fail where a Go file is not formatted
	@out=$$($(GO) tool gofumpt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "not formatted (make fmt):"; echo "$$out"; exit 1; fi

vet: ## go vet
	$(GO) vet $(PKGS)

lint: vet ## go vet and staticcheck
	$(GO) tool staticcheck $(PKGS)

deps: ## look for known vulnerabilities in what is called (needs the vulnerability database)
	$(GO) tool govulncheck $(PKGS)

test: ## run all tests; what this machine lacks is skipped, and the last lines say what and how to get it
	@./testdata/run-tests $(PKGS)

race: ## run the tests with the race detector
	$(GO) test -race $(PKGS)

cover: ## write coverage.out and print the total
	$(GO) test -coverprofile=coverage.out $(PKGS) >/dev/null && $(GO) tool cover -func=coverage.out | tail -1

integration: ## run the tests against real servers, which must all be there (nginx, postgres, chromium)
	HEADROOM_REQUIRE=$${HEADROOM_REQUIRE:-nginx,postgres,chromium} ./testdata/run-tests $(PKGS)

fuzz: ## fuzz every fuzz target for FUZZTIME each
	@for pkg in $$($(GO) list $(PKGS)); do for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x $$pkg || exit 1; done; done

golden: ## write the golden files anew; read the difference before you commit it
	$(GO) test ./report/... ./store -update

bench: build ## compare generators side by side and measure the other budgets, about 15 minutes (BENCH=-quick: two); bin/bench.md has the table
	$(GO) build -trimpath -o bin/bench ./cmd/bench
	./bin/bench -markdown bin/bench.md $(BENCH)

demo: build ## the whole story in under 90 s: step run on a service of known capacity, analysis, report
	./bin/headroom demo

readme-picture: build ## draw the README's picture of a knee anew, from a real run of the demo
	rm -rf headroom-demo
	./bin/headroom demo --no-progress
	install -m 0644 headroom-demo/report/knee.png testdata/readme/knee.png

check: fmt-check lint ## what each commit must pass: formatting, vet, staticcheck, tests
	$(GO) test $(PKGS)

cross: ## build for TARGETS, by default Linux, macOS and Windows on amd64 and arm64
	@for t in $(TARGETS); do echo $$t; CGO_ENABLED=0 GOOS=$${t%/*} GOARCH=$${t#*/} $(GO) build -trimpath -ldflags "$(LDFLAGS)" -o bin/$${t%/*}-$${t#*/}/ ./cmd/headroom || exit 1; done

ci: ## what continuous integration runs
	bash .ci/run

clean: ## remove what make built
	rm -rf bin coverage.out headroom-demo
