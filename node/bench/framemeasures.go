package bench

import (
	"context"
	"errors"
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

// Frame is what "parley bench frame" measures: how long inquiries take, beside what their agents
// take. The agents here answer at once.
func Frame() Suite {
	return Suite{Name: "frame", Measures: []Measure{passMeasure(), startsMeasure()}}
}

// The measures of inquiries have frameHosts hosts.
const frameHosts = 3

func passMeasure() Measure {
	const of = ", 4 perspectives on 3 hosts, one pair that talks, its gates answered at once by an open key"
	return Measure{
		Name: "pass", What: "a question is looked at from four perspectives", take: takePass,
		Figures: []Spec{
			{Name: "frame_pass", Unit: "ms", What: "from the question until its synthesis is here" + of + ": median", Better: Lower,
				Beside: "the 14 commands alone of which each waits for the one before", Aim: 2000, AimOn: OnValue},
			{Name: "frame_call", Unit: "ms", What: "what each of these 14 takes more than its command" + of + ": median", Better: Lower,
				Beside: "the agent's command alone: a shell that reads and prints", Aim: 15, AimOn: OnValue},
		},
	}
}

func startsMeasure() Measure {
	return Measure{
		Name: "starts", What: "sixteen members are started side by side", take: takeStarts,
		Figures: []Spec{{
			Name: "frame_starts", Unit: "ms", What: "from when the first of 16 members on 3 hosts runs until the last one does: median", Better: Lower,
			Beside: "16 such commands that are started side by side, without anything else", Aim: 300, AimOn: OnValue, Full: true,
		}},
	}
}

// framed are hosts whose agents answer inquiries at once.
type framed struct {
	*stand
	*hosts
	key          nkeys.KeyPair // of the human of the first host
	dir          string        // of the answers
	command      []string
	perspectives int
}

func (s *stand) startFramed(ctx context.Context, perspectives int) (f *framed, err error) {
	if runtime.GOOS == "windows" {
		return nil, skipped("its agents are a shell script")
	}
	f = &framed{stand: s, dir: s.path("answers"), perspectives: perspectives}
	if err := os.Mkdir(f.dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make a folder: %w", err)
	}
	command, err := writeFraming(f.dir, perspectives)
	if err != nil {
		return nil, err
	}
	f.command = []string{"sh", filepath.Join(f.dir, "framing.sh"), f.dir}
	if f.hosts, err = s.startHosts(ctx, wantedHosts{size: frameHosts, noGit: true}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.stop())
		}
	}()
	if f.key, err = giveKey(ctx, f.nodes[0]); err != nil {
		return nil, err
	}
	if _, err := control.AddAgent.Ask(ctx, f.nodes[0], control.AddAgentRequest{Name: "chair", Exec: command}); err != nil {
		return nil, err
	}
	for _, n := range f.nodes {
		if _, err := control.AddAgent.Ask(ctx, n, control.AddAgentRequest{Name: "lens", Exec: command}); err != nil {
			return nil, err
		}
	}
	return f, until(ctx, "the first host knows all agents", time.Millisecond, func() (bool, error) {
		list, err := control.List.Ask(ctx, f.nodes[0], control.HostsRequest{})
		lenses := 0
		for _, p := range list {
			if p.Name == "lens" {
				lenses++
			}
		}
		return lenses == len(f.nodes), err
	})
}

// inquire begins an inquiry and waits for its synthesis. It returns how long that took.
func (f *framed) inquire(ctx context.Context) (took time.Duration, err error) {
	n, began := f.nodes[0], time.Now()
	r := control.FrameRequest{Question: "Which of the two stores should we keep?", Coordinator: "chair", Agents: []string{"lens"}, Try: true}
	tried, err := control.OpenFrame.Ask(ctx, n, r)
	if err != nil {
		return 0, err
	}
	r.Try, r.At = false, tried.At
	if r.Hsig, err = signedAt(ctx, n, f.key, protocol.HumanDecision{Act: protocol.ActFrame, Reason: tried.Decides}); err != nil {
		return 0, err
	}
	begun, err := control.OpenFrame.Ask(ctx, n, r)
	if err != nil {
		return 0, err
	}
	now := begun.Frame
	for now.Synthesis == "" {
		switch {
		case now.Trouble != "":
			return 0, fmt.Errorf("the inquiry does not go on: %s", now.Trouble)
		case now.Gate != nil && len(now.Gate.Answers) == 0:
			now, err = f.decide(ctx, now)
		default:
			now, err = control.ShowFrame.Ask(ctx, n, control.ShowFrameRequest{ID: now.Channel.String(), Since: now.Last})
		}
		if err != nil {
			return 0, err
		}
	}
	took = time.Since(began)
	return took, f.withdraw(ctx, now)
}

// withdraw ends an inquiry, so that nothing of it goes on while the next one is measured.
func (f *framed) withdraw(ctx context.Context, now control.Frame) (err error) {
	for !now.Over && err == nil {
		if now.Gate != nil && len(now.Gate.Answers) == 0 {
			now, err = f.decide(ctx, now)
		} else {
			now, err = control.ShowFrame.Ask(ctx, f.nodes[0], control.ShowFrameRequest{ID: now.Channel.String(), Since: now.Last})
		}
	}
	return err
}

// decide answers the open gate: it chooses all perspectives, and at the end nothing more.
func (f *framed) decide(ctx context.Context, now control.Frame) (control.Frame, error) {
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
		return now, fmt.Errorf("the inquiry asks %s, which nobody expects", g.Gate)
	}
	path, err := protocol.ParsePath(g.Path)
	if err != nil {
		return now, err
	}
	hsig, err := signedAt(ctx, f.nodes[0], f.key, protocol.HumanDecision{Gate: path, GateHash: g.Hash, Act: protocol.ActFrameAnswer, Reason: w.Decides()})
	if err != nil {
		return now, err
	}
	return control.AnswerFrame.Ask(ctx, f.nodes[0], control.AnswerFrameRequest{ID: now.Channel.String(), Gate: g.Path, Chosen: w.Chosen, Hsig: hsig})
}

// alone runs the agents' command with a question, without anything else.
func (f *framed) alone(ctx context.Context, asked string) (time.Duration, error) {
	began := time.Now()
	cmd := exec.CommandContext(ctx, f.command[0], f.command[1:]...)
	cmd.Stdin = strings.NewReader(asked)
	if _, err := cmd.Output(); err != nil {
		return 0, fmt.Errorf("cannot run the agents' command: %w", err)
	}
	return time.Since(began), nil
}

func takePass(ctx context.Context, s *stand) (_ readings, err error) {
	f, err := s.startFramed(ctx, 4)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.stop()) }()
	var passes, alone []time.Duration
	for many := s.count(20, 3); len(passes) < many; {
		s.progress("asking", len(passes), many)
		took, err := f.inquire(ctx)
		if err != nil {
			return nil, err
		}
		passes = append(passes, took)
		for range framingSteps {
			one, err := f.alone(ctx, "infer the mission brief")
			if err != nil {
				return nil, err
			}
			alone = append(alone, one)
		}
	}
	pass, command := percentile(passes, 50), percentile(alone, 50)
	return readings{
		"frame_pass": {value: milliseconds(pass), yardstick: milliseconds(command * framingSteps)},
		"frame_call": {value: milliseconds(pass/framingSteps - command), yardstick: milliseconds(command)},
	}, nil
}

func takeStarts(ctx context.Context, s *stand) (_ readings, err error) {
	const members = 16
	f, err := s.startFramed(ctx, members)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.stop()) }()
	var started, bare []time.Duration
	for many := s.count(5, 1); len(started) < many; {
		s.progress("asking", len(started), many)
		if _, err := f.inquire(ctx); err != nil {
			return nil, err
		}
		apart, err := f.apart()
		if err != nil {
			return nil, err
		}
		started = append(started, apart)
		ended := make(chan error)
		for i := range members {
			go func() { // ends with the command
				_, err := f.alone(ctx, "You are an expert in "+lensName(i)+".")
				ended <- err
			}()
		}
		for range members {
			err = errors.Join(err, <-ended)
		}
		if err != nil {
			return nil, err
		}
		if apart, err = f.apart(); err != nil {
			return nil, err
		}
		bare = append(bare, apart)
	}
	return readings{"frame_starts": {value: milliseconds(percentile(started, 50)), yardstick: milliseconds(percentile(bare, 50))}}, nil
}

// apart is how long after the first member the last one was started, by the files that the members
// leave.
func (f *framed) apart() (time.Duration, error) {
	var all []time.Time
	for i := range f.perspectives {
		path := filepath.Join(f.dir, "started-"+lensName(i))
		info, err := os.Stat(path)
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			return 0, fmt.Errorf("a member was not started: %w", err)
		}
		all = append(all, info.ModTime())
	}
	slices.SortFunc(all, time.Time.Compare)
	return all[len(all)-1].Sub(all[0]), nil
}
