package cli

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// recipe is a program, its input, and its working folder; "" for an empty one.
type recipe struct {
	program      []string
	text, folder string
}

// compiled type-checks a piece of TypeScript against the client, and compiles it in a folder with the client installed
// as by npm.
func (d *stories) compiled(text string) recipe {
	d.t.Helper()
	node, client := typeScript(d.t)
	if client == "" {
		return recipe{}
	}
	folder := d.t.TempDir()
	file := filepath.Join(folder, "piece.mts")
	for _, err := range []error{
		os.Mkdir(filepath.Join(folder, "node_modules"), 0o700), os.Symlink(client, filepath.Join(folder, "node_modules/holdfast-client")),
		os.Symlink(filepath.Join(client, "node_modules/@types"), filepath.Join(folder, "node_modules/@types")), os.WriteFile(file, []byte(text), 0o600),
	} {
		if err != nil {
			d.t.Fatal(err)
		}
	}
	tsc := exec.CommandContext(d.t.Context(), node, filepath.Join(client, "node_modules/typescript/bin/tsc"), "--strict", "--skipLibCheck",
		"--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom,dom.iterable", "--types", "node", file)
	tsc.Dir = folder
	if said, err := tsc.CombinedOutput(); err != nil {
		d.t.Errorf("the types of the TypeScript piece are wrong: %v\n%s\n%s", err, said, text)
	}
	made, err := os.ReadFile(filepath.Join(folder, "piece.mjs"))
	if err != nil {
		d.t.Fatal(err)
	}
	return recipe{[]string{"node", "--input-type=module", "-"}, string(made), folder}
}

// snippets: the code samples on a channel's page work, in the languages that are installed.
func (d *stories) snippets(admin *walker, token string) {
	d.t.Helper()
	admin.goTo("/dashboard/sites/harbour/channels")
	var channel string
	admin.read(mainFrame, `[...document.querySelectorAll("main a")].find((a) => a.textContent === "Island Ferries").pathname`, &channel)
	admin.goTo(channel + "/integration")
	texts := map[string]string{}
	admin.read(mainFrame, `Object.fromEntries([...document.querySelectorAll("pre")].map((pre) => [pre.id, pre.textContent]))`, &texts)
	shell := strings.NewReplacer("TOKEN=...", "TOKEN=$HOLDFAST_TOKEN", "$API/bookings -d", "-o booking $API/bookings -d",
		"BOOKING=...", `BOOKING=$(grep -o '"id":[0-9]*' booking | head -n 1 | cut -d: -f2)`)
	for name, run := range map[string]recipe{
		"s-php": {program: []string{"php"}, text: texts["s-php"]}, "s-python": {program: []string{"python3", "-"}, text: texts["s-python"]},
		"s-typescript": d.compiled(texts["s-typescript"]),
		"s-curl":       {program: []string{"bash", "-eu"}, text: shell.Replace(texts["s-curl"])},
	} {
		if run.program == nil {
			continue // the reason is logged
		}
		program, err := exec.LookPath(run.program[0])
		if err != nil && os.Getenv("CI") != "true" {
			d.t.Logf("%s is not run: this machine has no %s", name, run.program[0])
			continue
		}
		cmd := exec.CommandContext(d.t.Context(), program, run.program[1:]...)
		cmd.Stdin = strings.NewReader(strings.NewReplacer("ORDER-1", name, "PAYMENT-1", name+"-P").Replace(run.text))
		cmd.Env, cmd.Dir = append(os.Environ(), "HOLDFAST_TOKEN="+token), cmp.Or(run.folder, d.t.TempDir())
		said, err := cmd.CombinedOutput()
		if err != nil || !logged.Match(said) {
			d.t.Errorf("%s: %v\n%s\n%s", filepath.Base(program), err, said, run.text)
		}
	}
}

// logged is a program's output about a payment: its id and status, or the whole response.
var logged = regexp.MustCompile(`(?m)^[0-9]+ complete$|"id":[0-9]+.*"statuses":"complete"|"status":"complete"`)
