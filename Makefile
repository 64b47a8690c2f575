# holdfast. `make help` lists what there is.
SHELL := /bin/sh
# No C compiler is needed: everything is built and tested without cgo, and the
# race detector, which needs one, runs only where one is found.
export CGO_ENABLED := 0

SANDBOX_BIN := $(CURDIR)/.sandbox/bin
SANDBOX     := $(SANDBOX_BIN)/holdfast-sandbox
DEMO        := $(CURDIR)/.sandbox/demo
HAVE_CC     := $(shell command -v cc 2>/dev/null || command -v gcc 2>/dev/null)
GO_FILES     = $(shell git ls-files -co --exclude-standard '*.go')

.PHONY: help demo demo-down test test-fast proof race lint bench build sandbox pictures clean

help: ## show this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: build sandbox ## build what is missing, start a real Kueue with an incident, open the console on it
	@mkdir -p .sandbox/exports
	@$(SANDBOX) run --dir $(DEMO) --oncall-role cmd/holdfast/rbac.yaml --scenario incident --kubeconfig oncall -- \
		$(CURDIR)/bin/holdfast --journal $(CURDIR)/.sandbox/journal.jsonl --export-dir $(CURDIR)/.sandbox/exports

demo-down: ## stop a sandbox that was left running
	@if [ -x $(SANDBOX) ]; then $(SANDBOX) down --dir $(DEMO); fi

test: sandbox race ## every test, the real control plane included
	cd cmd/sandbox && HOLDFAST_SANDBOX_BIN=$(SANDBOX_BIN) go test -tags sandbox -timeout 20m ./...
ifeq ($(HAVE_CC),)
	@# Otherwise the race detector has run them.
	go test -timeout 20m ./model/... ./actions/... ./ui/...
endif
	@# One package at a time: two of them start a control plane of their own.
	HOLDFAST_SANDBOX_BIN=$(SANDBOX_BIN) go test -p 1 -tags sandbox -timeout 20m ./cmd/...

test-fast: ## the tests that need no sandbox
	go test ./...
	cd cmd/sandbox && go test ./build/... ./internal/...

proof: sandbox ## previews of 200 random edits, and 40 with fair sharing, against a real Kueue (about half an hour)
	HOLDFAST_PROOF_EDITS=$${HOLDFAST_PROOF_EDITS:-200} HOLDFAST_PROOF_FAIR=$${HOLDFAST_PROOF_FAIR:-40} HOLDFAST_SANDBOX_BIN=$(SANDBOX_BIN) \
		go test -tags sandbox -count=1 -timeout 85m -run TestPreviewAgainstKueue -v ./cmd/holdfast/proof

race: ## the tests without a sandbox, with the race detector where there is a C compiler
ifneq ($(HAVE_CC),)
	CGO_ENABLED=1 go test -race -timeout 20m ./model/... ./actions/... ./ui/...
else
	@echo "no C compiler: the race detector is left out"
endif

lint: ## formatting, vet and staticcheck
	@bad=$$(gofmt -l $(GO_FILES)); if [ -n "$$bad" ]; then echo "not gofmt'ed (run gofmt -w):"; echo "$$bad"; exit 1; fi
	go vet -tags sandbox ./...
	go tool staticcheck -tags sandbox ./...
	cd cmd/sandbox && go vet -tags sandbox ./...
	@# Without the packages that link Kubernetes itself, which would take many minutes.
	@go build -o $(SANDBOX_BIN)/staticcheck honnef.co/go/tools/cmd/staticcheck
	cd cmd/sandbox && $(SANDBOX_BIN)/staticcheck -tags sandbox $$(go list -tags sandbox ./build/... ./e2e/... ./internal/... | grep -v /components)

bench: ## the benchmarks
	go test -run '^$$' -bench . -benchmem ./...

build: ## bin/holdfast
	go build -ldflags '-s -w' -o bin/holdfast ./cmd/holdfast

sandbox: ## the sandbox's programs (minutes when cold, a moment when nothing changed)
	@cd cmd/sandbox && go run ./build -out $(SANDBOX_BIN)

pictures: sandbox ## the README's pictures, from the real screen
	@mkdir -p cmd/holdfast/pictures
	HOLDFAST_PICTURES=$(CURDIR)/cmd/holdfast/pictures HOLDFAST_SANDBOX_BIN=$(SANDBOX_BIN) go test -tags sandbox -count=1 -run 'TestRollback|TestImpact|TestUseMorning' ./cmd/holdfast/e2e

clean: demo-down ## what was built, and the demo's data
	rm -rf bin .sandbox
