# The commands of everyday work; `make` alone lists them. The longer ones are scripts, so that shellcheck reads them.

FUZZTIME ?= 20s
BENCH ?= 1000000
HISTORIES ?= 40

.DEFAULT_GOAL := help
.PHONY: help build test test-long torture mutants lint fuzz cover conversations clients screenshots cldr bench bench-peer bench-exposure bench-dashboard clean

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## the program as one static binary, bin/holdfast
	CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o bin/ ./cmd/holdfast

test: ## all tests on SQLite and PostgreSQL, under the race detector what runs at once; fetches what it needs
	@scripts/test

test-long: ## the properties of ledger, limits and reports on HISTORIES (40) random histories each; the hotel file on both engines
	@HOLDFAST_TEST_HISTORIES=$(HISTORIES) scripts/test -run "HotelFile|BucketSums|AnyHistory|HistoriesThatDiffer|FromTheCube|BookingsComeTo" ./internal/book/ledger ./internal/book/limits ./internal/report ./internal/cli

torture: ## kill the program, fill its disk, freeze its database, send it nonsense; ARGS="-only kills -seed 7" or ARGS=-list
	@scripts/torture $(ARGS)

mutants: ## put small faults in, one at a time, and see that each makes a test fail; ARGS=-check only looks whether they fit
	@scripts/with-postgres go run ./scripts/mutants $(ARGS)

lint: ## gofmt, go vet, staticcheck, shellcheck, Redocly and Spectral on docs/openapi.yaml, tsc on clients/typescript
	@scripts/lint

fuzz: ## every fuzz target for FUZZTIME (20s) each
	@scripts/fuzz $(FUZZTIME)

cover: ## which lines the tests reach, to coverage.out and bin/coverage.html
	@mkdir -p bin
	@scripts/with-postgres go test -coverprofile=coverage.out -coverpkg=./cmd/...,./internal/... ./...
	@go tool cover -html=coverage.out -o bin/coverage.html
	@go tool cover -func=coverage.out | tail -n 1

conversations: ## write the API's conversation files anew; read the difference before you commit it
	go test ./internal/api -run Conversations -rewrite

clients: ## write the types of both clients from docs/openapi.yaml; build clients/typescript, which needs npm
	go run ./scripts/clients
	@made=$$(scripts/clients/typescript) && cp "$$made/src/schema.ts" clients/typescript/src/ && \
		rm -rf clients/typescript/dist && cp -r "$$made/dist" clients/typescript/

screenshots: ## pictures of every state of the payment modal and page of the dashboard, to ./screenshots
	@scripts/screenshots

cldr: ## fetch CLDR's forms of money, days and countries anew, to internal/lib/i18n
	@scripts/cldr/fetch

bench: ## the service under load, beside its limits and PocketBase; ARGS="-engine postgres -bookings 1000000 -json FILE"
	@scripts/bench $(ARGS)

bench-peer: ## build and vet bench/pocketbase, a module of its own that nothing else needs
	go -C bench/pocketbase vet ./...

bench-exposure: ## how long reports of exposure take over BENCH (1000000) payments; ARGS=-large also over ten times as many
	go run ./cmd/benchexposure -payments $(BENCH) $(ARGS)

bench-dashboard: ## how long each page of the dashboard takes; ARGS="-database FILE" (default: the demo's database)
	go run ./cmd/benchdashboard $(ARGS)

clean: ## remove what make made
	rm -rf bin coverage.out screenshots clients/typescript/dist clients/typescript/src/schema.ts
