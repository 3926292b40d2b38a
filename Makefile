# Everyday commands. Run `make` without arguments to list them. Longer ones are in scripts/, where shellcheck covers them.

FUZZTIME ?= 20s
BENCH ?= 1000000
HISTORIES ?= 40

.DEFAULT_GOAL := help
.PHONY: help build test test-long citus torture mutants lint fuzz cover conversations clients screenshots cldr bench bench-peer bench-exposure bench-dashboard clean

help: ## list all targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build the static binary bin/holdfast
	CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o bin/ ./cmd/holdfast

test: ## run all tests on SQLite and PostgreSQL, concurrent code with the race detector; installs what is missing
	@scripts/test

test-long: ## run the property tests of ledger, limits and reports on HISTORIES (40) random histories each; the hotel file on both engines
	@HOLDFAST_TEST_HISTORIES=$(HISTORIES) scripts/test -run "HotelFile|BucketSums|AnyHistory|HistoriesThatDiffer|FromTheCube|BookingsComeTo" ./internal/book/ledger ./internal/book/limits ./internal/report ./internal/cli

citus: ## run the Citus tests: layout on three servers, plans of all statements, and all packages with SQL
	@scripts/with-citus 2 go test -tags citus -vet=off -run "Distribut|Node|IDs|HashOfASite|Worker|Coordinator|Rebalance" ./internal/store
	@scripts/with-citus 0 go test -tags citus -vet=off -run 'RequestsStayOnOneNode|OverNodes' ./internal/api ./internal/jobs
	@scripts/with-citus 2 go test -tags citus -vet=off -run ScalingOut ./internal/cli
	@scripts/with-citus 0 go test -vet=off ./internal/platform/... ./internal/account/... ./internal/book/... ./internal/notify/... ./internal/report \
		./internal/ops/...

torture: ## kill the program, fill its disk, freeze its database, send garbage; ARGS="-only kills -seed 7" or ARGS=-list
	@scripts/torture $(ARGS)

mutants: ## run mutation tests: each small fault must make a test fail; ARGS=-check only checks that the list matches the source
	@scripts/with-postgres go run ./scripts/mutants $(ARGS)

lint: ## run gofmt, go vet, staticcheck, shellcheck, Redocly and Spectral on docs/openapi.yaml, tsc on clients/typescript
	@scripts/lint

fuzz: ## run every fuzz target for FUZZTIME (20s)
	@scripts/fuzz $(FUZZTIME)

cover: ## measure test coverage; writes coverage.out and bin/coverage.html
	@mkdir -p bin
	@scripts/with-postgres go test -coverprofile=coverage.out -coverpkg=./cmd/...,./internal/... ./...
	@go tool cover -html=coverage.out -o bin/coverage.html
	@go tool cover -func=coverage.out | tail -n 1

conversations: ## regenerate the API's conversation files; review the diff before you commit it
	go test ./internal/api -run Conversations -rewrite

clients: ## generate the types of both clients from docs/openapi.yaml and build clients/typescript; needs npm
	go run ./scripts/clients
	@made=$$(scripts/clients/typescript) && cp "$$made/src/schema.ts" clients/typescript/src/ && \
		rm -rf clients/typescript/dist && cp -r "$$made/dist" clients/typescript/

screenshots: ## take screenshots of every payment modal state and dashboard page, to ./screenshots
	@scripts/screenshots

cldr: ## update CLDR's formats of money, dates and countries in internal/lib/i18n
	@scripts/cldr/fetch

bench: ## load-test the service against hardware limits and PocketBase; ARGS="-engine postgres -bookings 1000000 -json FILE"
	@scripts/bench $(ARGS)

bench-peer: ## build and vet bench/pocketbase, a separate module
	go -C bench/pocketbase vet ./...

bench-exposure: ## time exposure reports over BENCH (1000000) payments; ARGS=-large also runs ten times as many
	go run ./cmd/benchexposure -payments $(BENCH) $(ARGS)

bench-disputes: ## time the failure of one of ten merchants and the import of 50,000 disputes, over BENCH (1000000) payments
	go run ./cmd/benchdisputes -payments $(BENCH) $(ARGS)

bench-dashboard: ## time each dashboard page; ARGS="-database FILE" (default: the demo's database)
	go run ./cmd/benchdashboard $(ARGS)

clean: ## remove all build output
	rm -rf bin coverage.out screenshots clients/typescript/dist clients/typescript/src/schema.ts
