package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// patroniRounds is how often the primary changes, alternating between a switchover and the loss of its machine.
const patroniRounds = 6

// patroniPatience is how long Patroni may take: it waits twenty seconds before it considers a primary lost.
const patroniPatience = 3 * time.Minute

// patroniPrograms are the programs that the scenario needs besides PostgreSQL's; `make torture` installs them if
// permitted.
var patroniPrograms = []string{"patroni", "patronictl", "etcd"}

// node is a machine with PostgreSQL and the Patroni that manages it.
type node struct {
	*cluster
	name   string
	config string // the file
	rest   int    // port of Patroni's REST API
	agent  *exec.Cmd
}

// patroni is the scenario: PostgreSQL in a common production setup, with Patroni and etcd.
func patroni(r *run) error {
	for _, program := range patroniPrograms {
		if _, err := exec.LookPath(program); err != nil {
			r.figure("Patroni", "skipped: %v", err)
			return nil
		}
	}
	host, etcd, err := r.startEtcd()
	if etcd != nil {
		defer func() { end(etcd) }()
	}
	if err != nil {
		return err
	}
	nodes, err := r.nodes(host)
	defer func() {
		for _, n := range nodes {
			end(n.agent) // before its PostgreSQL, which it would restart
			n.remove()
		}
	}()
	if err != nil {
		return err
	}
	leader := 0
	if err := errors.Join(following(nodes[0], nodes[1]), nodes[0].sql("postgres", "CREATE DATABASE failover")); err != nil {
		return err
	}
	b := &book{r: r, name: "Patroni"}
	if b.house, err = r.newHouse("patroni", severalHosts("failover", nodes[0].port, nodes[1].port)); err != nil {
		return err
	}
	if err := b.begin(); err != nil {
		return err
	}
	defer func() { b.server.kill() }()
	took := map[string][]time.Duration{}
	rounds := r.count(patroniRounds)
	for round := r.first; round < r.first+rounds; round++ {
		kind := []string{"fail-over", "switchover"}[round%2]
		b.recoveries = nil
		if err := b.patroniRound(round, kind, nodes[leader], nodes[1-leader]); err != nil {
			return fmt.Errorf("round %d, %s: %w", round, kind, err)
		}
		took[kind] = append(took[kind], b.recoveries...)
		leader = 1 - leader
	}
	if err := b.whole(); err != nil {
		return err
	}
	for kind, list := range took {
		slices.Sort(list)
		r.figure("Patroni: "+kind+"s; first write after the start, median and worst", "%d; %s, %s", len(list),
			list[len(list)/2].Round(time.Millisecond), list[len(list)-1].Round(time.Millisecond))
	}
	r.figure("Patroni: acknowledged writes, all present exactly once", "%d", b.acknowledged)
	r.figure("Patroni: interrupted writes; of these, committed", "%d; %d", b.open, b.found)
	return nil
}

// patroniRound changes the primary once while clients write.
func (b *book) patroniRound(round int, kind string, primary, standby *node) error {
	random := b.r.random(b.name, round)
	moment := time.Duration(random.IntN(600_000)) * time.Microsecond
	hands, work, stop := b.hands(random, round)
	err := b.r.pause(moment)
	began := time.Now()
	switch {
	case err != nil:
	case kind == "switchover":
		err = b.r.tool("patronictl", "-c", primary.config, "switchover", "--master", primary.name, "--candidate", standby.name, "--force")
	default:
		end(primary.agent)
		err = primary.lose()
	}
	if err == nil && kind != "switchover" {
		b.withoutPrimary(round, random, time.Now())
	}
	if err == nil {
		_, err = b.r.until(patroniPatience, standby.name+" is the primary", func() bool { return standby.is("primary") })
	}
	close(stop)
	work.Wait()
	if err != nil {
		return err
	}
	if err := b.writesAgain(round); err != nil {
		return err
	}
	b.recoveries[len(b.recoveries)-1] = time.Since(began)
	if err := b.check(round, fmt.Sprintf("%s after %s", kind, moment.Round(time.Millisecond)), hands); err != nil {
		return err
	}
	if kind != "switchover" {
		if err := primary.run(); err != nil {
			return err
		}
	}
	return following(standby, primary)
}

// following waits until one node is the primary and the other its synchronous standby.
func following(primary, standby *node) error {
	_, err := primary.r.until(patroniPatience, "the standby follows", func() bool {
		return primary.is("primary") && standby.is("synchronous")
	})
	return err
}

// is asks Patroni whether the node is the primary or a synchronous standby.
func (n *node) is(role string) bool {
	ctx, cancel := context.WithTimeout(n.r.ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/%s", n.rest, role), nil)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = answer.Body.Close() // nothing is read
	return answer.StatusCode == http.StatusOK
}

// daemon starts a program in the background, with its output in a file.
func (r *run) daemon(as *syscall.Credential, log, program string, args ...string) (*exec.Cmd, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.CommandContext(r.ctx, program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", out, out
	if as != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	}
	return cmd, cmd.Start()
}

// end kills a program started by daemon, if it is still running.
func end(cmd *exec.Cmd) {
	if cmd != nil && cmd.Process != nil && cmd.ProcessState == nil {
		_ = cmd.Process.Kill() // it may have ended already
		_ = cmd.Wait()         // how it ended does not matter
	}
}

// tool runs a program and waits for it.
func (r *run) tool(program string, args ...string) error {
	said, err := exec.CommandContext(r.ctx, program, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, lastOf(string(said)))
	}
	return nil
}

// startEtcd starts a single-node etcd and returns its address.
func (r *run) startEtcd() (host string, etcd *exec.Cmd, err error) {
	clients, err := freePort()
	peers, err2 := freePort()
	if err := errors.Join(err, err2); err != nil {
		return "", nil, err
	}
	host = fmt.Sprintf("127.0.0.1:%d", clients)
	client, peer := "http://"+host, fmt.Sprintf("http://127.0.0.1:%d", peers)
	etcd, err = r.daemon(nil, filepath.Join(r.dir, "etcd.log"), "etcd", "--name", "store", "--data-dir", filepath.Join(r.dir, "etcd"),
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "store="+peer,
		"--listen-client-urls", client, "--advertise-client-urls", client)
	return host, etcd, err
}

// nodes creates two nodes and starts them; the first one becomes the primary.
func (r *run) nodes(etcd string) (nodes []*node, err error) {
	for _, name := range []string{"a", "b"} {
		n := &node{name: name}
		if n.cluster, err = r.clusterIn("patroni-" + name); err != nil {
			return nodes, err
		}
		if n.rest, err = freePort(); err != nil {
			return nodes, err
		}
		nodes = append(nodes, n)
		if err := errors.Join(n.configure(etcd), n.run()); err != nil {
			return nodes, err
		}
		if name == "a" {
			if _, err := r.until(patroniPatience, "the first node is the primary", func() bool { return n.is("primary") }); err != nil {
				return nodes, err
			}
		}
	}
	return nodes, nil
}

// run starts the node's Patroni, which starts PostgreSQL.
func (n *node) run() error {
	as, err := owner()
	if err != nil {
		return err
	}
	n.agent, err = n.r.daemon(as, filepath.Join(n.r.dir, "patroni-"+n.name+".log"), "patroni", n.config)
	return err
}

// configure writes the configuration file of the node's Patroni. It is YAML, of which JSON is a subset.
func (n *node) configure(etcd string) error {
	type object = map[string]any
	local := func(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
	text, err := json.MarshalIndent(object{
		"scope": "holdfast", "name": n.name,
		"restapi": object{"listen": local(n.rest), "connect_address": local(n.rest)},
		"etcd3":   object{"host": etcd},
		"bootstrap": object{
			"dcs": object{
				// The shortest times that Patroni allows.
				"ttl": 20, "loop_wait": 2, "retry_timeout": 3, "synchronous_mode": true,
				"postgresql": object{"use_pg_rewind": true, "parameters": object{"max_connections": 60, "fsync": "off"}},
			},
			"initdb": []any{object{"encoding": "UTF8"}, object{"locale": "C.UTF-8"}, object{"auth": "trust"}, "data-checksums"},
			"pg_hba": []string{"local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"},
		},
		"postgresql": object{
			"listen": local(n.port), "connect_address": local(n.port), "data_dir": n.data(), "bin_dir": n.programs,
			"pgpass":         filepath.Join(n.dir, "pgpass"),
			"authentication": object{"superuser": object{"username": "postgres"}, "replication": object{"username": "replicator"}},
			"parameters":     object{"unix_socket_directories": ""},

			"remove_data_directory_on_rewind_failure": true,
		},
	}, "", "  ")
	if err != nil {
		return err
	}
	n.config = filepath.Join(n.r.dir, "patroni-"+n.name+".yml")
	return os.WriteFile(n.config, text, 0o644)
}
