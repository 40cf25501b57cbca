package console

import (
	"cmp"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/frame"
	"github.com/parleyfleet/parley/cmd/parley/frame/report"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/control"
)

// inquiries is the page of all inquiries, the newest first.
type inquiries struct{ Open, Over []control.Frame }

func showInquiries(a *asking) (any, string) {
	all := need(a, control.Frames, control.FramesRequest{All: true}).Frames
	over := func(f control.Frame) bool { return f.Over }
	return inquiries{Open: each.Except(all, over), Over: each.Only(all, over)}, "Inquiries"
}

// inquiry is one inquiry as its document grows.
type inquiry struct {
	control.Frame
	Members       []member
	Form          *frame.Form // what its gate asks; nil: nothing
	Seen          string      // see sum
	Facts, Doubts []string    // of who asks
	Terminal      bool        // decisions come to a terminal
	Document      template.HTML
}

type member struct {
	control.FrameMember
	Took time.Duration
}

func showInquiry(a *asking) (any, string) {
	f := need(a, control.ShowFrame, control.ShowFrameRequest{ID: a.PathValue("id")})
	doc := need(a, control.DescribeFrame, control.ShowFrameRequest{ID: f.Channel.String()})
	p := inquiry{Frame: f, Terminal: a.c.desk.terminal, Document: report.Pieces(doc)} // it lets no markup of others through
	for _, m := range f.Members {
		one := member{FrameMember: m}
		if !m.Started.IsZero() {
			end := m.Ended
			if end.IsZero() {
				end = a.c.now()
			}
			one.Took = end.Sub(m.Started).Round(time.Second)
		}
		p.Members = append(p.Members, one)
	}
	if f.Gate != nil {
		var form frame.Form
		form, a.err = frame.FormOf(f)
		p.Form, p.Seen = &form, sum(f.Gate)
		p.Facts, p.Doubts = f.Gate.Asker.Lines()
	}
	return p, f.Question
}

// answerInquiry brings what was chosen at the gate of an inquiry to the terminal.
func answerInquiry(a *asking) (done, error) {
	f, err := ask(a, control.ShowFrame, control.ShowFrameRequest{ID: cmp.Or(a.FormValue("inquiry"), "none")})
	if err != nil {
		return done{}, err
	}
	if f.Gate == nil || a.FormValue("seen") != sum(f.Gate) {
		return done{}, errChanged()
	}
	form, err := frame.FormOf(f)
	if err != nil {
		return done{}, err
	}
	words := []string{"frame", "answer", f.ID}
	for _, q := range form.Questions {
		chosen := slices.DeleteFunc(a.Form["choose."+q.ID], func(key string) bool { return key == "" })
		switch {
		case q.Settled != "":
		case len(chosen) == 0 && q.Multi:
			words = append(words, "--choose", q.ID+"=")
		case len(chosen) == 0 && !q.Optional:
			return done{}, control.Errorf(control.KindUsage, "", "nothing is chosen yet: %s", q.Title)
		}
		for _, key := range chosen {
			words = append(words, "--choose", chosenAs(form, q.ID, key))
		}
	}
	if text := strings.TrimSpace(strings.ReplaceAll(a.FormValue("text"), "\r\n", "\n")); text != "" {
		words = append(words, "--text", text)
	}
	return a.decide(words...)
}

// chosenAs is an option as --choose takes it: by its key alone where that is enough, since a name of a
// perspective can have a comma.
func chosenAs(form frame.Form, question, key string) string {
	first := slices.IndexFunc(form.Questions, func(q frame.Question) bool {
		return slices.ContainsFunc(q.Options, func(o frame.Option) bool { return strings.EqualFold(o.Key, key) })
	})
	if first >= 0 && form.Questions[first].ID == question && !strings.Contains(key, "=") {
		return key
	}
	return question + "=" + key
}
