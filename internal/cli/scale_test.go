//go:build citus

package cli

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/pgtest"

	"github.com/jackc/pgx/v5"
)

// documentedStep is a command of the steps to scale out: a statement in a code block or between backquotes, or a command line of holdfast.
var documentedStep = regexp.MustCompile("(?m)^ +(SELECT .*;)$|`(CREATE EXTENSION citus|SELECT [^`]*|holdfast migrate [^`]*)`")

// TestScalingOutAsDocumented runs the commands of docs/scale.md, in order, on three servers and two sites.
func TestScalingOutAsDocumented(t *testing.T) {
	nodes := pgtest.CitusNodes()
	if len(nodes) < 3 {
		t.Skip("needs a cluster with two workers: scripts/with-citus 2")
	}
	s := &system{t: t, dir: t.TempDir(), database: pgtest.URL(t)}
	if err := os.WriteFile(filepath.Join(s.dir, pgKeys), []byte(apptest.KeyLine), 0o600); err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(s.database)
	if err != nil {
		t.Fatal(err)
	}
	run := func(node, database, statement string) (answer string) {
		t.Helper()
		server := *at
		server.Host, server.Path = node, database
		conn, err := pgx.Connect(t.Context(), server.String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(context.Background()) }()
		rows, err := conn.Query(t.Context(), statement)
		if err == nil {
			for rows.Next() {
				if len(rows.RawValues()) > 0 {
					answer = string(rows.RawValues()[0])
				}
			}
			err = rows.Err()
		}
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		return answer
	}
	for _, node := range nodes[1:] {
		run(node, "/postgres", "CREATE DATABASE "+strings.TrimPrefix(at.Path, "/")+" TEMPLATE template0")
	}
	s.must("migrate")
	s.must("site", "create", "small", "--name", "Small", "--currency", "EUR", "--sandbox")
	s.must("site", "create", "large", "--name", "Large", "--currency", "EUR", "--sandbox")
	large := run(nodes[0], at.Path, "SELECT id::text FROM sites WHERE path = 'large'")

	text, err := os.ReadFile("../../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	_, chapter, _ := strings.Cut(string(text), "\n## 7. ")
	list, _, _ := strings.Cut(chapter, "\nTables of a site")
	steps := 0
	for _, m := range documentedStep.FindAllStringSubmatch(list, -1) {
		step := m[1] + m[2]
		steps++
		if command, ok := strings.CutPrefix(step, "holdfast "); ok {
			s.must(strings.Fields(command)...)
			continue
		}
		if strings.HasPrefix(step, "CREATE EXTENSION") {
			for _, node := range nodes {
				run(node, at.Path, step)
			}
			continue
		}
		servers := nodes
		if strings.Contains(step, "move_shard") { // from wherever the site is
			home := run(nodes[0], at.Path, `SELECT n.nodename || ':' || n.nodeport FROM pg_dist_node n JOIN pg_dist_placement p ON p.groupid = n.groupid
				WHERE p.shardid = get_shard_id_for_distribution_column('site_places', `+large+`)`)
			if servers = []string{nodes[0], home, nodes[1]}; home == nodes[1] {
				servers[2] = nodes[2]
			}
		}
		for i, name := range []string{"db0.internal", "db1.internal", "db2.internal"} {
			host, port, _ := strings.Cut(servers[i], ":")
			step = strings.ReplaceAll(step, "'"+name+"', 5432", "'"+host+"', "+port)
		}
		run(nodes[0], at.Path, strings.ReplaceAll(step, "'site_places', 7", "'site_places', "+large))
		if strings.Contains(step, "citus_rebalance_start") {
			run(nodes[0], at.Path, "SELECT citus_rebalance_wait()")
		}
	}
	if steps < 9 {
		t.Errorf("found %d steps", steps)
	}
	if sites := s.must("site", "list"); !strings.Contains(sites, "large") || !strings.Contains(sites, "small") {
		t.Errorf("the sites afterwards:\n%s", sites)
	}
	s.must("verify")
}
