package protocol_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

// testdata/sync-answers are forms of answers, good and bad, as language models write them,
// and what is read of each: a row for each claim, with "-" for what is missing, or
// "refused". Nothing is guessed: what is no plain number is no score.
func TestAnswersOfLanguageModels(t *testing.T) {
	files, err := filepath.Glob("testdata/sync-answers/*.txt")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d answers, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			body, want, ok := strings.Cut(string(text), "\n---- is read as\n")
			if !ok {
				t.Fatal("it does not say what is read")
			}
			if got := rowsOf(body); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

func rowsOf(body string) string {
	result, err := protocol.AnswerSync.Parse(body)
	if err != nil {
		return "refused\n"
	}
	var b strings.Builder
	for _, row := range result.Rows {
		b.WriteString(cmp.Or(row.Claim.Name(), row.Claim.Text) + " " + row.Score.String() + " " + cmp.Or(string(row.Decision), "-") + " " + cmp.Or(row.Evidence, "-") + "\n")
	}
	return b.String()
}
