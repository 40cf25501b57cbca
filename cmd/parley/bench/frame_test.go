package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// framingSteps are the calls of an inquiry that wait for each other, up to its synthesis: brief,
// context, proposals, members, preview, detection, three messages, reports, questions, answers to
// them, outcomes, synthesis. Calls that run at the same time count as one.
const framingSteps = 14

func passTrial() trial {
	const of = ", 4 perspectives on 3 hosts, one pair that talks, its gates answered at once by an open key"
	return trial{measure{name: "pass", what: "a question is looked at from four perspectives", figures: []Figure{
		{Name: "frame_pass", Unit: "ms", What: "from the question until its synthesis is here" + of + ": median", Better: Lower,
			Beside: "the 14 commands alone of which each waits for the one before", Aim: new(2000.0), AimOn: OnValue},
		{Name: "frame_call", Unit: "ms", What: "what each of these 14 takes more than its command" + of + ": median", Better: Lower,
			Beside: "the agent's command alone: a shell that reads and prints", Aim: new(15.0), AimOn: OnValue},
	}}, func(r *rig) readings {
		f := r.framed(4)
		var passes, alone []time.Duration
		for range r.count(20, 3) {
			passes = append(passes, f.inquire())
			alone = append(alone, r.timesOf(framingSteps, func() error { return f.alone(r.Context(), "infer the mission brief") })...)
		}
		pass, command := percentile(passes, 50), percentile(alone, 50)
		return readings{
			"frame_pass": {value: milliseconds(pass), yardstick: milliseconds(command * framingSteps)},
			"frame_call": {value: milliseconds(pass/framingSteps - command), yardstick: milliseconds(command)},
		}
	}}
}

func startsTrial() trial {
	return trial{measure{name: "starts", what: "sixteen members are started side by side", figures: []Figure{{
		Name: "frame_starts", Unit: "ms", What: "from when the first of 16 members on 3 hosts runs until the last one does: median", Better: Lower,
		Beside: "16 such commands that are started side by side, without anything else", Aim: new(300.0), AimOn: OnValue,
	}}}, func(r *rig) readings {
		const members = 16
		f := r.framed(members)
		var started, bare []time.Duration
		for range r.count(5, 1) {
			f.inquire()
			started = append(started, f.apart())
			r.together(members, members, func(int) func(context.Context, int) error {
				return func(ctx context.Context, i int) error { return f.alone(ctx, "You are an expert in "+lensName(i)+".") }
			})
			bare = append(bare, f.apart())
		}
		return readings{"frame_starts": beside(started, bare, 50)}
	}}
}

// framed are three hosts whose agents answer inquiries at once.
type framed struct {
	*fleet
	key          nkeys.KeyPair // of the human of the first host
	script, dir  string        // the agents' command, and where its answers are
	perspectives int
}

func (r *rig) framed(perspectives int) *framed {
	if runtime.GOOS == "windows" {
		r.Skip("its agents are a shell script")
	}
	f := &framed{fleet: r.fleet(wantedFleet{size: 3, noGit: true}), dir: r.path("answers"), perspectives: perspectives}
	f.script = must(filepath.Abs(filepath.Join("testdata", "framing.sh")))(r)
	f.writeAnswers()
	f.key = r.giveKey(f.nodes[0])
	quoted := func(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
	command := "sh " + quoted(f.script) + " " + quoted(f.dir)
	must(control.AddAgent.Ask(r.Context(), f.nodes[0], control.AddAgentRequest{Name: "chair", Exec: command}))(r)
	for _, h := range f.nodes {
		must(control.AddAgent.Ask(r.Context(), h, control.AddAgentRequest{Name: "lens", Exec: command}))(r)
	}
	r.until("the first host knows all agents", time.Millisecond, func() bool {
		lenses := slices.DeleteFunc(must(control.List.Ask(r.Context(), f.nodes[0], control.HostsRequest{}))(r), func(p control.Participant) bool { return p.Name != "lens" })
		return len(lenses) == len(f.nodes)
	})
	return f
}

func lensName(i int) string { return fmt.Sprintf("Lens%d", i+1) }

// writeAnswers writes what the agents answer: all perspectives are proposed, and the first two are in
// tension.
func (f *framed) writeAnswers() {
	type object map[string]any
	var proposed, previews []object
	words := func(i int) string { return "Keep " + lensName(i) + "; see stores/2.md." }
	for i := range f.perspectives {
		other := lensName((i + 1) % f.perspectives)
		proposed = append(proposed, object{"name": lensName(i), "contribution": "what only " + lensName(i) + " shows", "tension_with": other, "referent": "the second store"})
		previews = append(previews, object{"perspective": lensName(i), "title": "t", "summary": "s", "limits": "l"})
	}
	peers := []string{lensName(0), lensName(1)}
	quote := func(i int) object {
		return object{"perspective": lensName(i), "section": "Assessment", "words": words(i)}
	}
	before := map[string]string{"synthesis": "## Convergence\nBoth count nights.\n\n## Divergence\nWhat a night is worth.\n\n" +
		"## Integrated Assessment\nLens1 says: " + words(0) + "\n\n## Synthesis Basis\nIts result.\n\n"}
	f.check(os.Mkdir(f.dir, 0o700))
	for name, block := range map[string]object{
		"brief":     {"intent": "which to keep", "deliverable": "a recommendation", "scope": "stores/ only", "mode": "inquire", "why": "two sides", "abstract": false},
		"context":   {"context": "There are two.", "sources": []string{}},
		"proposals": {"perspectives": proposed, "reasons": ""},
		"preview":   {"results": previews},
		"detection": {"triggers": []object{{"kind": "contradiction", "peers": peers, "topic": "which to keep", "why": "", "quotes": []object{quote(0), quote(1)}}}, "none": ""},
		"outcomes":  {"outcomes": []object{{"tension": "1.1", "resolution": "partial", "strength": "moderate", "basis": "both count nights"}}},
		"synthesis": {
			"agreements": []object{{"point": "Both count nights.", "perspectives": peers, "strength": "moderate"}},
			"basis":      []object{{"claim": "Lens1 says: " + words(0), "kind": "result", "sources": []object{{"perspective": lensName(0), "words": words(0)}}}},
		},
		"route": {"extend": "Deepen Lens1 further", "add_input": "What Lens2 could not see", "wrap_up": "With Lens1, decide"},
	} {
		data := must(json.Marshal(block))(f.rig)
		f.check(os.WriteFile(filepath.Join(f.dir, name), []byte(before[name]+"```json\n"+string(data)+"\n```\n"), 0o600))
	}
}

// inquire begins an inquiry and waits for its synthesis. It returns how long that took. Then it ends
// the inquiry, so that nothing of it goes on while the next one is measured.
func (f *framed) inquire() (took time.Duration) {
	h, began := f.nodes[0], time.Now()
	asks := control.FrameRequest{Question: "Which of the two stores should we keep?", Coordinator: "chair", Agents: []string{"lens"}, Try: true}
	tried := must(control.OpenFrame.Ask(f.Context(), h, asks))(f.rig)
	asks.Try, asks.At = false, tried.At
	asks.Hsig = f.signed(h, f.key, protocol.HumanDecision{Act: protocol.ActFrame, Reason: tried.Decides})
	now := must(control.OpenFrame.Ask(f.Context(), h, asks))(f.rig).Frame
	for !now.Over {
		if now.Trouble != "" {
			f.Fatalf("the inquiry does not go on: %s", now.Trouble)
		}
		if now.Gate != nil && len(now.Gate.Answers) == 0 {
			now = f.decide(now)
		} else {
			now = must(control.ShowFrame.Ask(f.Context(), h, control.ShowFrameRequest{ID: now.Channel.String(), Since: now.Last}))(f.rig)
		}
		if took == 0 && now.Synthesis != "" {
			took = time.Since(began)
		}
	}
	return took
}

// decide answers the open gate: it chooses all perspectives, and at the end nothing more.
func (f *framed) decide(now control.Frame) control.Frame {
	g := now.Gate
	w := protocol.InquiryAnswer{Gate: g.Gate, Set: g.Set}
	switch g.Gate {
	case protocol.GateBrief:
		w.Chosen = []protocol.InquiryChoice{{Question: "brief", Options: []string{"confirm"}}, {Question: "mode", Options: []string{protocol.ModeInquire}}}
	case protocol.GatePerspectives:
		all := protocol.InquiryChoice{Question: "perspectives"}
		for i := range f.perspectives {
			all.Options = append(all.Options, lensName(i))
		}
		w.Chosen = []protocol.InquiryChoice{all}
	case protocol.GateRoute:
		w.Chosen = []protocol.InquiryChoice{{Question: "onwards", Options: []string{"withdraw"}}}
	default:
		f.Fatalf("the inquiry asks %s, which nobody expects", g.Gate)
	}
	decides := protocol.HumanDecision{Gate: must(protocol.ParsePath(g.Path))(f.rig), GateHash: g.Hash, Act: protocol.ActFrameAnswer, Reason: w.Decides()}
	answer := control.AnswerFrameRequest{ID: now.Channel.String(), Gate: g.Path, Chosen: w.Chosen, Hsig: f.signed(f.nodes[0], f.key, decides)}
	return must(control.AnswerFrame.Ask(f.Context(), f.nodes[0], answer))(f.rig)
}

// alone runs the agents' command with a question, without anything else.
func (f *framed) alone(ctx context.Context, asked string) error {
	cmd := exec.CommandContext(ctx, "sh", f.script, f.dir)
	cmd.Stdin = strings.NewReader(asked)
	_, err := cmd.Output()
	return err
}

// apart is how long after the first member the last one was started, by the files that the members
// leave.
func (f *framed) apart() time.Duration {
	var all []time.Time
	for i := range f.perspectives {
		path := filepath.Join(f.dir, "started-"+lensName(i))
		all = append(all, must(os.Stat(path))(f.rig).ModTime())
		f.check(os.Remove(path))
	}
	slices.SortFunc(all, time.Time.Compare)
	return all[len(all)-1].Sub(all[0])
}
