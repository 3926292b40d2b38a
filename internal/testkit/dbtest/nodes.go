package dbtest

import (
	"cmp"
	"errors"
	"regexp"
	"strings"
	"testing"

	"holdfast/internal/store"
)

// Who runs a statement.
const (
	Requests  = "requests"  // of the API about one site
	Jobs      = "jobs"      // by the clock
	Operators = "operators" // lists and checks over all sites
	Backups   = "backups"
)

// overNodes lists the statements that a cluster may run on more than one node, by who runs them and a part of their text, each with its
// reason. All others are planned for the node of one site.
var overNodes = map[string]map[string]string{
	Requests: {
		"FROM channels WHERE (site_id IN":    "the operators' list of sites counts the merchants of each",
		"FROM policies WHERE (site_id IN":    "the operators' list of sites shows the policy of each",
		"SELECT u.site_id FROM limit_uses u": "a new rate is judged by the limits of all sites",
	},
	Operators: {
		"NOT EXISTS (SELECT 1 FROM sites p WHERE p.id = c.site_id)": "verify looks for rows of sites that do not exist",
		"FROM channels WHERE (site_id IN":                           "how many merchants each site of a page has",
		"FROM policies WHERE (site_id IN":                           "the policy of each site of a page",
		"FROM protection_requests r JOIN sites s":                   "the requests of merchants that wait for an operator",
		"s.due_day, s.currency, s.closing":                          "receivables",
		"SELECT account_mode, COUNT(*) FROM channels":               "whether all merchants fit the profile of the program, at its start",
		"LIMIT $1) AS waiting":                                      "how much work waits, on the System page",
		"SELECT s.path, s.name, s.sandbox, p.* FROM (SELECT":        "proposals that wait for an operator",
	},
	Backups: {
		"SELECT site_id":       "a backup reads whole tables",
		"SELECT COUNT(*) FROM": "and counts their rows",
	},
	// Each asks the nodes once for the sites with work, or with the work that is longest overdue.
	Jobs: {
		"FROM sites s JOIN transactions t ON":                "authorisations that were not captured in time",
		"FROM allocations a JOIN sites s ON":                 "sites with allocations that wait for a rate",
		"FROM channels c LEFT JOIN statement_progress":       "sites with a period that has ended",
		"FROM exposure_deltas GROUP BY site_id":              "sites with exposure to fold",
		"MAX(id) AS last FROM limit_changes":                 "sites with changes of uses that have no horizon yet",
		"SELECT c.site_id, h.up_to FROM limit_changes c":     "sites with changes of uses, and those where a day has begun",
		"SELECT site_id FROM insolvencies WHERE state":       "sites with a snapshot to make or premium to return",
		"FROM limit_reviews r JOIN limits l":                 "new limits that existing payments are judged by",
		"SELECT MIN(b.end_day) FROM bookings b":              "sites with bookings that are completed",
		"SELECT MIN(a.ends_after) FROM allocations a":        "sites with protection that has ended",
		"SELECT DISTINCT site_id FROM events":                "sites with events without a position",
		"FROM webhook_endpoints e LEFT JOIN event_heads h":   "endpoints that are behind their feed",
		"FROM webhook_endpoints e JOIN sites s":              "endpoints with deliveries that are due",
		"SELECT MIN(o.done_at) FROM webhook_deliveries":      "sites with deliveries that ended long ago",
		"FROM webhook_endpoints e WHERE e.state = 'deleted'": "sites with deleted endpoints",
		"FROM event_heads h JOIN events e":                   "sites with events older than 90 days",
		"FROM fact_marks GROUP BY site_id":                   "sites with facts that are not sealed",
		"SELECT MIN(o.created_at) FROM idempotency_keys":     "sites with old idempotency keys",
		"SELECT MIN(o.deleted_at) FROM last_states":          "sites with old last states",
		"FROM imports WHERE state IN ('queued', 'waiting')":  "whether an import waits",
		"AND (c.matching <> 'matched' OR c.waiting > 0)":     "sites with disputes that have no payment or wait for a rate",
		"c.status = 'open' AND c.due_day BETWEEN":            "sites with disputes to answer within three days",
		"FROM dispute_files f WHERE f.state = 'queued'":      "the file of disputes that is next",
		"f.site_id, 0 AS ahead FROM dispute_files":           "sites with old files of disputes",
		"FROM imports i JOIN proposals p":                    "sites with an import that was approved or rejected",
		"SELECT i.site_id, i.id FROM imports i":              "the import that is next",
		"FROM imports i WHERE i.created_at <= $1 ORDER":      "sites with imports, of which some may be old",
		"SELECT MIN(o.created_at) FROM modal_sessions":       "sites with old sessions of the modal",
		"LEFT JOIN mail_marks m ON":                          "sites with events that have no mails yet",
		"SELECT DISTINCT site_id, state FROM mails":          "sites with mails to send, or whose sending was interrupted",
		"FROM mails WHERE tried_at >":                        "how many mails were sent in a minute: the mail server's limit is for all sites",
		"SELECT MIN(o.forget_at) FROM mails":                 "sites with mails to forget",
		"FROM mail_files f WHERE CAST":                       "sites with attachments of forgotten mails",
		"FROM schedules o":                                   "the report that is longest overdue",
		"FROM gateway_charges WHERE ask_at <=":               "charges with an unknown outcome",
		"FROM processor_notices WHERE ask_at <=":             "notices of processors to follow",
		"FROM processor_events WHERE read_at <=":             "channels whose events at the processor are read next",
		"SELECT MIN(o.received_at) FROM processor_notices":   "sites with old notices",
	},
}

// Plans checks how a cluster plans statements. Each text is planned once.
type Plans struct {
	who     string
	planned map[string]bool
	excused map[string]bool // parts of texts in overNodes
}

// NewPlans returns the check of the statements run by Requests, Jobs or Operators.
func NewPlans(who string) *Plans {
	return &Plans{who: who, planned: map[string]bool{}, excused: map[string]bool{}}
}

// aList matches a list of placeholders. Statements that differ only in its length count as one.
var aList = regexp.MustCompile(`\((CAST\()?\$\d+[^()]*(\)[^()]*)?(, ?\(?(CAST\()?\$\d+[^()]*\)?)*\)`)

// Check has the cluster plan statements that have run. It fails the test for one that cannot be planned, and for one that goes to more than
// one node, or that is planned as several queries, without being in the list.
func (p *Plans) Check(t *testing.T, db *store.DB, ran []Statement) {
	t.Helper()
	for _, s := range ran {
		text := aList.ReplaceAllString(strings.Join(strings.Fields(s.Query), " "), "(…)")
		if p.planned[text] || strings.HasPrefix(text, "SET LOCAL") {
			continue
		}
		p.planned[text] = true
		err := plan(t, db, s, "error")
		if err == nil || p.excuse(text) && plan(t, db, s, "off") == nil {
			continue
		}
		t.Errorf("%v: %s", err, text)
	}
}

func (p *Plans) excuse(text string) bool {
	for part := range overNodes[p.who] {
		if strings.Contains(text, part) {
			p.excused[part] = true
			return true
		}
	}
	return false
}

// plan has the cluster plan a statement; level is what it does with one for several nodes.
func plan(t *testing.T, db *store.DB, s Statement, level string) error {
	t.Helper()
	undo := errors.New("nothing is kept")
	err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
		if _, err := tx.Exec(`SET LOCAL citus.multi_task_query_log_level TO '` + level + `'`); err != nil {
			return err
		}
		err := tx.Query("EXPLAIN "+s.Query, s.Args, func(scan func(dest ...any) error) error {
			var line string
			err := scan(&line)
			if level == "error" && strings.Contains(line, "Distributed Subplan") {
				err = errors.New("planned as more than one query")
			}
			return err
		})
		return cmp.Or(err, undo)
	})
	if errors.Is(err, undo) {
		return nil
	}
	return err
}

// Done fails the test unless at least so many texts were planned, and each exception was needed.
func (p *Plans) Done(t *testing.T, least int) {
	t.Helper()
	for part := range overNodes[p.who] {
		if !p.excused[part] {
			t.Errorf("no statement of %s with %q goes to several nodes: remove it from overNodes", p.who, part)
		}
	}
	if len(p.planned) < least {
		t.Errorf("only %d statements were planned", len(p.planned))
	}
}
