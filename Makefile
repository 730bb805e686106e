# Everything here needs Go alone; e2e needs a Docker engine besides.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

FUZZTIME ?= 1m

# The race detector is linked by a C compiler; where there is none Go turns cgo
# off by itself, and the tests run without it.
RACE := $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)

.PHONY: build
build: ## the program, ./noslower
	go build -trimpath -o noslower ./cmd/noslower

.PHONY: demo
demo: ## measures a program, slows it down, and shows the report
	@.ci/demo

.PHONY: test
test: ## all tests but those in containers
	@$(if $(RACE),,echo "test: no C compiler, so no race detector")
	go test $(RACE) -shuffle=on -timeout 30m ./...

.PHONY: e2e
e2e: ## the image, and the action in a workflow, run by act
	.ci/e2e/images
	go test -tags e2e -count=1 -timeout 30m -v ./.ci/e2e

.PHONY: lint
lint: ## formatting, vet, staticcheck, actionlint, go.mod, shellcheck
	@unformatted=$$(gofmt -l .ci bench cmd pkg); \
	if [[ -n $$unformatted ]]; then echo "lint: gofmt -w these:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	go vet -tags e2e ./.ci/e2e
	go tool staticcheck ./...
	go tool staticcheck -tags e2e ./.ci/e2e
	go tool actionlint
	go mod tidy -diff
	@if command -v shellcheck >/dev/null; then \
	  echo shellcheck; shellcheck .ci/run .ci/demo .ci/engine .ci/fuzz .ci/e2e/images; \
	else echo "lint: no shellcheck here: the scripts were not looked at"; fi

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME
	.ci/fuzz $(FUZZTIME)

# A module of its own: nothing but its tests needs a driver of browsers.
.PHONY: browser
browser: ## the HTML report in Chromium; PICTURES=folder keeps what it looks like
	@staticcheck=$$(go tool -n staticcheck) && cd .ci/browser && go vet -tags browser . && "$$staticcheck" -tags browser .
	cd .ci/browser && go test -tags browser -count=1 -v . $(if $(PICTURES),-args -pictures $(abspath $(PICTURES)))

.PHONY: bench
bench: build ## speed beside benchstat, benchfmt and the JSON decoder, for some minutes (docs/speed.md)
	@benchstat=$$(go tool -n benchstat) && go run ./bench/speed ./noslower "$$benchstat"

.PHONY: bench-self
bench-self: build ## what noslower itself costs, in processor time
	go run ./bench/self ./noslower

.PHONY: bench-overhead
bench-overhead: ## what noslower adds to the command that it measures, beside hyperfine
	go run ./bench/overhead

.PHONY: bench-detect
bench-detect: ## how often rules are right, on measurements of known truth (docs/detection.md)
	go run ./bench/detect -data ../shared/detect

.PHONY: bench-trends
bench-trends: ## how often trends are wrong, and what they take (docs/trends.md)
	go test -run '^$$' -bench 'ChangePoints|Creep|Site' -benchtime 1x -timeout 30m ./pkg/stat ./cmd/noslower

.PHONY: bench-live
bench-live: ## gates of a real program under a load, for some minutes
	go run ./bench/live

.PHONY: help
help: ## these lines
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' Makefile | expand -t 16
