package frame

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// opening holds the values of the flags of parley frame.
type opening struct {
	request control.FrameRequest
	key     string
	noWait  bool
}

func openFlags(p *cli.Program, cmd *cobra.Command, o *opening) {
	f := cmd.Flags()
	f.StringVar(&o.request.Re, "re", "", "the message that asks it, by its `PATH`")
	f.StringVar(&o.request.In, "in", "", "what is investigated: a `DIR`, or REPO[@COMMIT]; an agent names what lies in its own folder")
	f.StringVar(&o.request.Mode, "mode", "", "recommend or inquire; you can still choose the other with the first brief (default: asked then)")
	f.StringArrayVar(&o.request.Perspectives, "perspective", nil, "a perspective of your own, by its `NAME`")
	f.StringSliceVar(&o.request.Agents, "agent", nil, "the `AGENT`s that may investigate (default: any)")
	f.StringVar(&o.request.Coordinator, "coordinator", "", "the `AGENT` that makes its calls (default: the fleet's policy)")
	f.BoolVar(&o.request.AcceptBrief, "accept-brief", false, "accept the brief beforehand")
	f.StringVar(&o.key, "key", "", "the `FILE` of your key (default: that of this home)")
	f.BoolVar(&o.noWait, "no-wait", false, "begin it, and do not follow it")
	p.JSONFlag(cmd, "print the inquiry as JSON, when it has begun")
	p.CompleteFlags(cmd, "agent", "coordinator")
}

// absoluteIn changes what is to be investigated to an absolute path, if it is a folder on this
// machine or a commit of a repository in such a folder: the node works in another folder.
func absoluteIn(in string) (string, error) {
	dir, commit := in, ""
	if info, err := os.Stat(in); err != nil || !info.IsDir() {
		if i := strings.LastIndexByte(in, '@'); i > 0 {
			dir, commit = in[:i], in[i:]
		}
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return in, nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return in, fmt.Errorf("cannot find %s: %w", in, err)
	}
	return abs + commit, nil
}

// open begins an inquiry. If somebody looks on, it follows the inquiry.
func (s *session) open(ctx context.Context, o opening, words []string) error {
	r := o.request
	r.Question, s.hand.Path = strings.Join(words, " "), o.key
	if r.In != "" {
		var err error
		if r.In, err = absoluteIn(r.In); err != nil {
			return err
		}
	}
	r.Try = true
	tried, err := control.OpenFrame.Ask(ctx, s.client, r)
	if err != nil {
		return err
	}
	r.Try, r.At = false, tried.At
	if r.AcceptBrief && !s.view.JSON { // else a gate shows it
		opens(s.view.Err, opensOf(protocol.InquiryGate{In: tried.Frame.In, Snapshot: tried.Frame.Snapshot, Receivers: tried.Frame.Receivers}))
	}
	if tried.Decides != "" {
		if r.Hsig, err = s.sign(ctx, "", protocol.HumanDecision{Act: protocol.ActFrame, Reason: tried.Decides}); err != nil {
			return err
		}
	}
	begun, err := control.OpenFrame.Ask(ctx, s.client, r)
	switch {
	case err != nil:
		return err
	case s.view.JSON:
		return s.view.WriteJSON(begun)
	}
	f := begun.Frame
	s.view.Out.Printf("%s %s\n", s.view.Out.Bold("Inquiry "+f.ID), s.view.Out.Dim("asked by "+term.Line(f.By)+", coordinated by "+term.Line(f.Coordinator)))
	s.view.Out.Printf("  %s\n", term.Line(f.Question))
	if o.noWait || !s.view.Out.Terminal || !term.IsTerminal(s.p.Stdin) {
		s.view.Steps("parley frame show "+f.ID, "how it stands", "parley frame answer "+f.ID, "decide what it asks")
		return nil
	}
	return s.follow(ctx, f)
}
