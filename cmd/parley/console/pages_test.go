package console

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/node/control"
)

// failing is a node that answers some questions with nothing, and then none any more.
type failing struct{ answers int }

func (f *failing) Answer(context.Context, control.VerbSpec, any, func(any) error) error {
	if f.answers--; f.answers < 0 {
		return errors.New("cannot read the record: its disk is gone")
	}
	return nil
}

// A page went on with what a node had not answered, and its reader saw an empty page for a broken one.
func TestAPageSaysWhatTheNodeCannotAnswer(t *testing.T) {
	b := letIn(t)
	for _, p := range pages() {
		at := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(p.at, "some")
		if p.at == "/{$}" {
			at = "/"
		}
		for answers := range 6 {
			node := &failing{answers}
			b.c.node = node
			code, body := b.answer(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:7400"+at, nil))
			if said := strings.Contains(body, "its disk is gone"); answers == 0 && !said || said != (code == http.StatusInternalServerError) {
				t.Errorf("%s, after %d answers: %d\n%s", at, answers, code, body)
			}
		}
	}
}
