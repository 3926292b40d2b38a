package sqltext

import "strings"

// Statements splits a migration at the semicolons that end a line. Comments stay in the statement that they precede.
func Statements(text string) []string {
	var list []string
	for part := range strings.SplitSeq(text, ";\n") {
		if hasSQL(part) {
			list = append(list, strings.TrimSpace(part))
		}
	}
	return list
}

func hasSQL(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--") {
			return true
		}
	}
	return false
}
