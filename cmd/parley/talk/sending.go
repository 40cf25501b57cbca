package talk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/agent"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// HeardWithin is how long a sending command waits for other hosts to hear the message.
const HeardWithin = 50 * time.Millisecond

type sendFlags struct {
	as      string
	request string
	fyi     bool
	anyway  bool
	wait    time.Duration
}

func (f *sendFlags) register(p *cli.Program, cmd *cobra.Command) {
	cli.AsFlag(cmd, &f.as, "speak as this agent or human")
	cmd.Flags().StringVar(&f.request, "request", "", "an id of your own: repeated within a day it shows the first message and sends none")
	cmd.Flags().BoolVar(&f.fyi, "fyi", false, "a note: nobody is to answer, and no agent is run for it")
	p.JSONFlag(cmd, "print the message as JSON")
}

// registerTo registers the flags of a command that names whom it writes to.
func (f *sendFlags) registerTo(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.anyway, "anyway", false, "also to a name that nobody is known to have")
	cli.DurationFlag(cmd.Flags(), &f.wait, "wait", "wait this long for the reply, such as 30s, and print its text alone")
	cmd.Flags().Lookup("json").Usage = "print the message as JSON, with --wait as question with its answer"
}

func sendText(p *cli.Program, cmd *cobra.Command, f sendFlags, r control.SendRequest, words []string) error {
	if cmd.Flags().Changed("wait") && f.wait <= 0 {
		return cli.UsageErrorf(cmd, "--wait needs a time above zero, such as 30s")
	}
	if cmd.Flags().Changed("request") && f.request == "" {
		return cli.UsageErrorf(cmd, "--request needs an id")
	}
	if f.fyi && f.wait > 0 {
		return cli.UsageErrorf(cmd, "--fyi asks nobody for an answer: leave out --wait")
	}
	if f.fyi {
		r.Act = protocol.ActNote
	}
	text, err := p.Text(cmd, words)
	if err != nil {
		return err
	}
	client, err := p.Client()
	if err != nil {
		return err
	}
	r.As, r.Body, r.Request, r.Anyway, r.HeardWithin = f.as, text, f.request, f.anyway, HeardWithin
	return runSend(cmd.Context(), r, f.wait, client, p.View())
}

// runSend sends a message, and shows how far it has come. If `wait` is above zero, it then waits
// for the answer.
func runSend(ctx context.Context, r control.SendRequest, wait time.Duration, client control.Service, v cli.View) error {
	if slices.Contains(r.To, protocol.All) && r.Channel == "" && (r.Act == "" || r.Act.Wakes()) && !v.JSON {
		noteRuns(ctx, r, client, v)
	}
	m, err := control.Send.Ask(ctx, client, r)
	if err != nil {
		return err
	}
	v.Acting(ctx, r.As, client)
	line := v.Path(m.Path) + "  " + SentStages(m) + "\n"
	switch {
	case wait > 0:
		if !v.JSON {
			v.Err.Printf("%s", line)
			noteWork(ctx, m, client, v)
		}
		reply, err := awaitReply(ctx, control.WaitRequest{As: m.From, Re: m.Path.String(), Within: wait}, r.As, client, v)
		if v.JSON {
			return showExchange(ctx, m, reply, err, client, v)
		}
		if err != nil {
			return err
		}
		return showArrived(ctx, reply, m.From, client, v)
	case v.JSON:
		return v.WriteJSON(m)
	}
	v.Out.Printf("%s", line)
	said := noteWork(ctx, m, client, v)
	for _, line := range waiting(m, v) {
		v.Err.Printf("%s\n", v.Err.Dim(line))
	}
	if said && m.Act != protocol.ActNote {
		v.Err.Printf("%s\n", v.Err.Dim("an answer comes into your inbox: "+v.Command("parley inbox"+cli.SayAs(r.As))))
	}
	v.Next("parley show "+m.Path.Suffix(), "how far it has come")
	return nil
}

// noteRuns tells whoever writes to all, before that, which commands it runs.
func noteRuns(ctx context.Context, r control.SendRequest, client control.Service, v cli.View) {
	served, _ := control.Agents.Ask(ctx, client) // what is not known is not said
	all, _ := control.List.Ask(ctx, client, control.HostsRequest{})
	var runs, far []string
	for _, a := range served {
		wakes := len(a.WakesOn) == 0 || slices.Contains(a.WakesOn, string(cmp.Or(r.Act, protocol.ActBroadcast)))
		if a.Door == configs.DoorExec && wakes && !a.Paused && a.Name.String() != r.As {
			runs = append(runs, fmt.Sprintf("%s (%s)", a.Name, term.Cut(term.Line(a.Command), mostCommand)))
		}
	}
	for _, one := range all {
		here := slices.ContainsFunc(served, func(a control.Agent) bool { return a.Name == one.Name }) // which is preferred
		if one.Kind == "agent" && !here && one.State != control.HostOther {
			far = append(far, term.Line(one.Name.String()+"@"+one.Host.String()))
		}
	}
	var text []string
	if len(runs) > 0 {
		text = append(text, "this runs here: "+strings.Join(runs, ", "))
	}
	if len(far) > 0 {
		text = append(text, "on other hosts it goes to: "+strings.Join(far, ", "))
	}
	if len(text) == 0 {
		return
	}
	for _, line := range cli.WrapWords(strings.Join(text, "; ")+"; with --fyi it runs none", v.Err.Width) {
		v.Err.Printf("%s\n", v.Err.Dim(line))
	}
}

// mostCommand is how many columns are shown of a command that is run.
const mostCommand = 40

// noteWork tells the sender of a message, on standard error, whom no host serves any more, and what
// Delays says. It reports whether it has said anything.
func noteWork(ctx context.Context, m control.Message, client control.Service, v cli.View) (said bool) {
	for _, name := range m.Unserved {
		v.Err.Printf("%s\n", v.Err.Warn(term.Line(name)+" is served by no host any more: if that is still so in ten minutes, this becomes a dead letter (parley agent dlq list)"))
	}
	lines := Delays(ctx, m, client, v)
	for _, line := range lines {
		for _, part := range cli.WrapWords(line, v.Err.Width) {
			v.Err.Printf("%s\n", v.Err.Dim(part))
		}
	}
	return len(lines)+len(m.Unserved) > 0
}

// Delays says of each addressee of a message that was just sent why it does not hear the message now, or
// does not answer at once, as far as that is known.
func Delays(ctx context.Context, m control.Message, client control.Service, v cli.View) (lines []string) {
	served, err := control.Agents.Ask(ctx, client)
	if err != nil {
		return nil
	}
	others := slices.Clone(m.To)
	say := func(name, why string) {
		if why != "" {
			lines = append(lines, term.Line(name)+" "+why)
		}
	}
	var sessions []control.Session
	if slices.ContainsFunc(served, func(a control.Agent) bool { return a.Door == configs.DoorInbox }) {
		sessions, _ = control.Sessions.Ask(ctx, client) // an older node knows none
	}
	for _, a := range served {
		name := a.Name.String()
		without := slices.DeleteFunc(slices.Clone(others), func(to string) bool { return to == name || to == name+"@"+m.Host.String() })
		if len(without) < len(others) {
			others = without
			say(name, cmp.Or(delay(a, v), notThere(a, sessions)))
		}
	}
	others = slices.DeleteFunc(others, func(to string) bool { return to == protocol.All || slices.Contains(m.Unserved, to) })
	if len(others) > 0 {
		all, _ := control.List.Ask(ctx, client, control.HostsRequest{}) // what is not known is not said
		for _, to := range others {
			say(to, away(to, all, v))
		}
	}
	return lines
}

// notThere says that nobody asks for the mail of an agent of this host; "" if somebody may.
func notThere(a control.Agent, sessions []control.Session) string {
	at := slices.IndexFunc(sessions, func(s control.Session) bool { return s.Agent == a.Name })
	switch {
	case at >= 0 && sessions[at].State == control.AgentAway:
		return "has no session open: it hears this when one is opened"
	case at < 0 && a.Door == configs.DoorInbox && a.Wake == "" && a.Presence == control.AgentAway:
		return "is not there: it hears this when it next asks for its mail"
	}
	return ""
}

// away says why an addressee that is not of this host is not reached now; "" if it is.
func away(to string, all []control.Participant, v cli.View) string {
	name, host, _ := strings.Cut(to, "@")
	var far []control.Participant
	for _, one := range all {
		switch {
		case one.Name.String() != name || host != "" && one.Host.String() != host:
		case one.Live && one.Presence != control.AgentAway:
			return ""
		default:
			far = append(far, one)
		}
	}
	if len(all) == 0 {
		return ""
	} else if len(far) == 0 {
		return "is nobody's name at the moment: whoever is called so one day hears this"
	}
	on, since := "is on "+term.Line(far[0].Host.String())+", which is ", ""
	if !far[0].Since.IsZero() {
		since = " since " + v.Stamp(far[0].Since)
	}
	switch {
	case far[0].Live:
		return "is not there: it hears this when it next asks for its mail"
	case far[0].State == control.HostAway:
		return on + "away" + since + ": it hears this when that host is back"
	}
	return on + "reached by git alone: it hears this when that host next fetches"
}

// delay says why an agent does not answer at once; "" if it may.
func delay(a control.Agent, v cli.View) string {
	switch {
	case a.Missing != "":
		return strings.TrimPrefix(agent.MissingText(v, a), a.Name.String()+" ")
	case a.Paused:
		return fmt.Sprintf("is paused: its mail waits until parley agent resume %s", a.Name)
	case a.Stalled != "":
		return fmt.Sprintf("cannot be run at the moment (%s): its mail waits, and it is tried again", term.Line(a.Stalled))
	case a.Failing > 0:
		return fmt.Sprintf("is failing: %s to be tried again; see parley agent queue %s", cli.Count(a.Failing, "message"), a.Name)
	case a.Held:
		return "is in line: this host runs as many commands as it may"
	case a.Running > 0 && a.Queued > 0:
		return fmt.Sprintf("is at work on %s, %d waiting; see parley agent queue %s", cli.Count(a.Running, "message"), a.Queued, a.Name)
	}
	return ""
}

// Exchange is a question that was sent, and its answer.
type Exchange struct {
	Question control.Message  `json:"question"`         // the question as it stands when the wait has ended
	Answer   *control.Message `json:"answer,omitempty"` // absent if none came in time
}

// showExchange prints a question and its answer. If there is no answer, `err` is the reason.
func showExchange(ctx context.Context, question, answer control.Message, err error, client control.Service, v cli.View) error {
	if now, err := control.Show.Ask(ctx, client, control.ShowRequest{Path: question.Path.String()}); err == nil {
		question = now
	}
	said := Exchange{Question: question}
	if err == nil {
		said.Answer = &answer
	}
	if err := v.WriteJSON(said); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	return markTaken(ctx, answer, question.From, client, v)
}

func awaitReply(ctx context.Context, r control.WaitRequest, as string, client control.Service, v cli.View) (control.Message, error) {
	done, retries := v.Busy("waiting for an answer"), tellRetries(r.Re, client, v)
	reply, err := control.Wait.Ask(ctx, client, r)
	retries.end()
	done()
	asked := v.Named(r.Re)
	hint := "to wait on: parley wait --re " + cli.ShellWord(asked) + cli.SayAs(as)
	if ctx.Err() != nil {
		return reply, control.Errorf(control.KindFailed, hint, "cannot wait for the answer to %s: interrupted", asked)
	}
	if late := new(control.Error); errors.As(err, &late) && late.Kind == control.KindTimeout {
		far := ""
		if question, err := control.Show.Ask(ctx, client, control.ShowRequest{Path: r.Re}); err == nil {
			far = ", which is " + Stages(question) + " so far"
		}
		hint += "; what is in the way: parley why " + cli.ShellWord(asked)
		return reply, control.Errorf(control.KindTimeout, hint, "nothing came within %s as an answer to %s%s; it may still come, into the inbox", span.Text(r.Within), asked, far)
	}
	return reply, err
}

// showArrived prints only the text of the message that was waited for (R15).
func showArrived(ctx context.Context, m control.Message, as string, client control.Service, v cli.View) (err error) {
	switch {
	case v.JSON:
		err = v.WriteJSON(m)
	case m.Act == protocol.ActFailed:
		_, err = fmt.Fprintf(v.Err, "%s: %s\n", term.Line(Sender(m)), term.Visible(m.Body))
	default:
		_, err = fmt.Fprintf(v.Out, "%s\n", v.Out.Body(m.Body))
	}
	if err != nil {
		return err
	}
	return markTaken(ctx, m, as, client, v)
}

// markTaken ends a command that has printed the message for which it waited. If the message is for
// `as`, it counts as read. If the message says why there is no answer, markTaken returns an error.
func markTaken(ctx context.Context, m control.Message, as string, client control.Service, v cli.View) error {
	if _, err := control.Shown.Ask(ctx, client, control.ShownRequest{As: as, Paths: []protocol.Path{m.Path}}); err != nil {
		noteNotMarked(v, err) // the text is there: what a script waits for has not failed
	}
	if m.Act == protocol.ActFailed {
		return cli.ErrSaid
	}
	return nil
}

// noteNotMarked says why a message that was shown goes on waiting in the inbox.
func noteNotMarked(v cli.View, err error) {
	v.Err.Printf("%s\n", v.Err.Warn("cannot mark it as read: "+term.Line(err.Error())))
}
