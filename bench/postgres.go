package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// errNoPostgres explains how to get a server.
var errNoPostgres = errors.New("-engine postgres requires a server in HOLDFAST_TEST_POSTGRES. Start one with scripts/with-postgres --durable")

// openPostgres creates a database on the server that scripts/with-postgres started.
func (b *bench) openPostgres(ctx context.Context, h *house) error {
	server := os.Getenv("HOLDFAST_TEST_POSTGRES")
	if server == "" {
		return errNoPostgres
	}
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	name := "bench_" + strconv.FormatInt(time.Now().UnixNano(), 36)
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return err
	}
	address, err := url.Parse(server)
	if err != nil {
		return err
	}
	address.Path = "/" + name
	h.database = address.String()
	var version, folder string
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_version'), current_setting('data_directory')").Scan(&version, &folder); err != nil {
		return err
	}
	b.result.Machine.Versions["postgres"], _, _ = strings.Cut(version, " ")
	for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes", "shared_buffers", "max_wal_size"} {
		var value string
		if err := conn.QueryRow(ctx, "SELECT current_setting($1)", setting).Scan(&value); err != nil {
			return err
		}
		b.result.Settings = append(b.result.Settings, setting+" "+value)
	}
	return h.addServer(folder)
}

// addServer notes the process of a server. One on another machine has no process here, so its processor time is not shown.
func (h *house) addServer(folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, "postmaster.pid"))
	if err != nil {
		return nil
	}
	first, _, _ := strings.Cut(string(text), "\n")
	id, err := strconv.Atoi(first)
	if err != nil {
		return fmt.Errorf("the server's process id: %w", err)
	}
	h.postmasters = append(h.postmasters, id)
	return nil
}
