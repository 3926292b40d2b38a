package pgtest

import (
	"context"
	"net/url"
	"os"
	"strings"
	"testing"
)

// CitusVariable is the environment variable with the server addresses (host:port) of a Citus cluster, coordinator first, separated by
// spaces. Variable then has the URL of the coordinator.
const CitusVariable = "HOLDFAST_TEST_CITUS"

// CitusNodes returns the server addresses of the test cluster, coordinator first, or nothing if there is none.
func CitusNodes() []string { return strings.Fields(os.Getenv(CitusVariable)) }

// NotOverNodes skips a test on a cluster, which cannot plan the statements of the test itself.
func NotOverNodes(t testing.TB) {
	t.Helper()
	if len(CitusNodes()) > 0 {
		t.Skip("this test changes rows of many sites with its own SQL, which Citus rejects; it runs on SQLite and on a single PostgreSQL")
	}
}

// MakeCitus turns a database of the coordinator into a cluster: each of the given nodes gets a database of the same name and is added to
// the coordinator. Without nodes, the coordinator holds the rows itself.
func MakeCitus(ctx context.Context, address string, nodes []string) error {
	at, err := url.Parse(address)
	if err != nil {
		return err
	}
	statements := []string{
		"CREATE EXTENSION citus",
		"SELECT citus_set_coordinator_host('" + at.Hostname() + "', " + at.Port() + ")",
	}
	if len(nodes) == 0 {
		statements = append(statements, "SELECT citus_set_node_property('"+at.Hostname()+"', "+at.Port()+", 'shouldhaveshards', true)")
	}
	err = execute(ctx, address, statements...)
	for _, node := range nodes {
		if err == nil {
			err = AddNode(ctx, address, node)
		}
	}
	return err
}

// AddNode gives a server a database of the same name and adds it to the cluster.
func AddNode(ctx context.Context, address, node string) error {
	at, err := url.Parse(address)
	if err != nil {
		return err
	}
	server := *at
	server.Host, server.Path = node, "/postgres"
	if err := execute(ctx, server.String(), "CREATE DATABASE "+strings.TrimPrefix(at.Path, "/")+" TEMPLATE template0"); err != nil {
		return err
	}
	server.Path = at.Path
	if err := execute(ctx, server.String(), "CREATE EXTENSION citus"); err != nil {
		return err
	}
	host, port, _ := strings.Cut(node, ":")
	return execute(ctx, address, "SELECT citus_add_node('"+host+"', "+port+")")
}

// Rest ends the Citus processes in an unused database, so that it can be copied.
func Rest(ctx context.Context, server, database string) error {
	return execute(ctx, server, "ALTER DATABASE "+database+" ALLOW_CONNECTIONS false",
		"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '"+database+"'")
}
