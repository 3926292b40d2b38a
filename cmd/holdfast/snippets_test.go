package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// typescriptClient stands for the client in clients/typescript, whose types `make lint` checks: its requests, and no more. Node 20 reads no
// types, and the packages of the client are not there when tests run.
const typescriptClient = `
class Holdfast {
	constructor({ baseUrl, site, credentials }) {
		this.api = { POST: (path, { body }) => fetch(baseUrl + "/" + site + "/rest/svc/v2" + path, { method: "POST", body: JSON.stringify(body),
			headers: { Authorization: "Bearer " + credentials.apiToken, "Content-Type": "application/json" } }) };
	}
}
const ok = async (answer) => { const made = await (await answer).json(); if (!made.id) throw new Error(made.message); return made; };
`

// snippets: the pieces of programs on the page of a channel do what they say, in the languages that this machine has.
func (d *stories) snippets(admin *walker, token string) {
	d.t.Helper()
	admin.goTo("/dashboard/sites/harbour/channels")
	var channel string
	admin.read(mainFrame, `[...document.querySelectorAll("main a")].find((a) => a.textContent === "Island Ferries").pathname`, &channel)
	admin.goTo(channel + "/integration")
	texts := map[string]string{}
	admin.read(mainFrame, `Object.fromEntries([...document.querySelectorAll("pre")].map((pre) => [pre.id, pre.textContent]))`, &texts)
	node := strings.NewReplacer(`import { Holdfast, ok } from "holdfast-client";`, typescriptClient, "HOLDFAST_TOKEN!", "HOLDFAST_TOKEN")
	shell := strings.NewReplacer("TOKEN=...", "TOKEN=$HOLDFAST_TOKEN", "$API/bookings -d", "-o booking $API/bookings -d",
		"BOOKING=...", `BOOKING=$(grep -o '"id":[0-9]*' booking | head -n 1 | cut -d: -f2)`)
	for name, run := range map[string]struct {
		program []string
		text    string
	}{
		"s-php": {[]string{"php"}, texts["s-php"]}, "s-python": {[]string{"python3", "-"}, texts["s-python"]},
		"s-typescript": {[]string{"node", "--input-type=module", "-"}, node.Replace(texts["s-typescript"])},
		"s-curl":       {[]string{"bash", "-eu"}, shell.Replace(texts["s-curl"])},
	} {
		program, err := exec.LookPath(run.program[0])
		if err != nil && os.Getenv("CI") != "true" {
			d.t.Logf("%s is not run: this machine has no %s", name, run.program[0])
			continue
		}
		cmd := exec.CommandContext(d.t.Context(), program, run.program[1:]...)
		cmd.Stdin = strings.NewReader(strings.NewReplacer("ORDER-1", name, "PAYMENT-1", name+"-P").Replace(run.text))
		cmd.Env, cmd.Dir = append(os.Environ(), "HOLDFAST_TOKEN="+token), d.t.TempDir()
		said, err := cmd.CombinedOutput()
		if err != nil || !logged.Match(said) {
			d.t.Errorf("%s: %v\n%s\n%s", filepath.Base(program), err, said, run.text)
		}
	}
}

// logged is what a program says of a payment that it has logged: its number and its status, or all of the answer.
var logged = regexp.MustCompile(`(?m)^[0-9]+ complete$|"id":[0-9]+.*"statuses":"complete"|"status":"complete"`)
