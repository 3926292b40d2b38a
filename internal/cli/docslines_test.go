package cli

import (
	"encoding/json"
	"html"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// notTried are operations whose lines of curl need something that the demo does not have, or would spoil it.
var notTried = regexp.MustCompile(`^(delete|login|refresh|rotate|moveclock|updatesite|approve|reject|withdraw|` +
	`(confirm|discard)import|(open|create|get)modal(session|booking|transaction)|listtestcards|returnfromchallenge|takeprocessorevent|` +
	`(get|resend|try)mail|(test|replay)webhook|getdelivery|(confirm|close|reinstate|allow)insolvency|(match|unmatch|accept|challenge|represent)dispute$|(create|get)evidence|(list|get)affected|getsnapshot|getinsolvencyreport|` +
	`(get|explain|assess|reopen|release)claim|listclaimevents|(get|sign|pay|fail)payout|listpayoutlines|(record|get|cancel)recovery)`)

// tryDocumentedLines pastes the lines of curl from /docs into a shell, with the token of an operator. They work on a new demo.
func tryDocumentedLines(t *testing.T, p *process) {
	t.Helper()
	operator := demoOperator.FindStringSubmatch(p.said)
	var session struct{ Token string }
	if err := json.Unmarshal([]byte(logIn(t, p, operator[1], operator[2], "", 200)), &session); err != nil {
		t.Fatal(err)
	}
	_, front := request(t, "GET", p.base+"/docs", "", nil)
	pages := map[string]bool{}
	for _, m := range regexp.MustCompile(`href="(/docs/[a-z-]+)"`).FindAllStringSubmatch(front, -1) {
		pages[m[1]] = true
	}
	script := "exec 2>&1\n"
	tried := 0
	for _, page := range slices.Sorted(maps.Keys(pages)) {
		_, text := request(t, "GET", p.base+page, "", nil)
		lines := regexp.MustCompile(`(?s)<pre class="curl"[^>]* data-operation="([a-z0-9]+)"><code>(.*?)</code>`)
		for _, m := range lines.FindAllStringSubmatch(text, -1) {
			line := strings.Replace(html.UnescapeString(m[2]), "curl -sS", "curl -sS -o answer -w '%{http_code}'", 1)
			if !notTried.MatchString(m[1]) {
				line = strings.Replace(line, " -o statement.pdf", "", 1)
				script += line + "\necho ' " + m[1] + "'; tail -c 300 answer; echo\n"
				tried++
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir, cmd.Env = t.TempDir(), append(cmd.Environ(), "TOKEN="+session.Token)
	said, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	worked := len(regexp.MustCompile(`(?m)^20[012] [a-z0-9]+$`).FindAll(said, -1))
	if worked != tried || tried < 50 {
		failed := regexp.MustCompile(`(?m)^[^2]\d\d [a-z0-9]+\n.*|^curl.*`).FindAllString(strings.ToValidUTF8(string(said), "?"), -1)
		t.Errorf("%d of %d documented lines work; not\n%s", worked, tried, strings.Join(failed, "\n"))
	}
}
