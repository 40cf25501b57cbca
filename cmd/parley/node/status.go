package node

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/agent"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/doctor"
	"github.com/parleyfleet/parley/cmd/parley/host"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewStatusCommand is parley status.
func NewStatusCommand(p *cli.Program) *cobra.Command {
	fleet := false
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say how the node fares: record, bus, hosts, agents",
		Long: `Say how the node fares: record, bus, hosts, agents. Nobody is asked but the node
of this host. The first line is one word: healthy, or trouble if something below
waits for you: the record or its remote, a warning, letters refused, no link at
all, or an agent that fails.

With --fleet the node asks all live hosts, at the same time and for at most two
seconds, and shows one table: the state of each host (here, live, away, or git
where it writes but the bus does not reach it), since when that is, the address
of the link to it or the one that it states, the round trip, its version, the
difference of its clock where that is more than a second, and how many messages
it lacks. Below stand links that do not work, and who did not answer. Hosts that
are out of the fleet are left out.`,
		Example: `  parley status --json
  parley status --fleet`,
		Args: cli.Exactly(0, "nothing"),
		RunE: p.Asking(func(cmd *cobra.Command, _ []string, client control.Service, v cli.View) error {
			if fleet {
				return runFleetStatus(cmd.Context(), client, v)
			}
			return runStatus(cmd.Context(), client, v)
		}),
	}
	cmd.Flags().BoolVar(&fleet, "fleet", false, "ask all live hosts, and show the whole fleet")
	return p.JSONFlag(cmd, "print the status as JSON")
}

func runStatus(ctx context.Context, client control.Service, v cli.View) error {
	s, err := control.ShowStatus.Ask(ctx, client)
	return v.Show(s, err, func() {
		word := v.Out.Good("healthy")
		if causes.Worst(doctor.Standing(s)) == causes.Red {
			word = v.Out.Bad("trouble")
		}
		v.Out.Printf("%s\n", word)
		ShowStatusLine(v, s)
		showStatusFields(v, s)
		if s.Gates > 0 {
			v.Alarm(statusLabel, "gates", fmt.Sprintf("%d for %s to decide: parley gates", s.Gates, s.Human))
		}
		showWarnings(v, s)
		if len(s.Hosts) > 0 {
			v.Out.Printf("\n")
			hostTable(v, s.Hosts)
		}
		if len(s.Agents) > 0 {
			v.Out.Printf("\n")
			agent.Table(v, s.Agents)
		}
	})
}

// showWarnings shows what the operator should know.
func showWarnings(v cli.View, s control.Status) {
	for _, warning := range s.Warned {
		v.Note("warning: " + warning)
	}
}

// ShowStatusLine says in one line which node runs on which host.
func ShowStatusLine(v cli.View, s control.Status) {
	who := fmt.Sprintf("%s on host %s of fleet %s: ", s.Human, s.Host, s.Fleet)
	what := fmt.Sprintf("running since %s, version %s, process %d", v.At(s.Since, cli.TimeForm), term.Line(s.Version), s.PID)
	if v.Out.Width > 0 && term.Width(who+what) > v.Out.Width {
		what = "\n" + what
	}
	v.Out.Printf("%s on host %s of fleet %s: %s\n", s.Human, v.Out.Bold(s.Host.String()), v.Out.Bold(s.Fleet.String()), what)
}

const statusLabel = 8

func showStatusFields(v cli.View, s control.Status) {
	field := func(name, value string) { v.Labelled(statusLabel, name, value) }
	field("home", s.Home)
	field("record", fmt.Sprintf("%s in %s, %d not recorded yet", cli.Count(s.Record.Messages, "message"), cli.ShortHash(s.Record.ID), s.Record.Unrecorded))
	if s.Record.Arriving > 0 {
		field("behind", fmt.Sprintf("%d of %d messages that others wrote are taken in", s.Record.Arrived, s.Record.Arriving))
	}
	if s.Record.StoreError != "" {
		text := "new messages are refused: " + s.Record.StoreError
		if s.Record.StoreAdvice != "" {
			text += "; " + s.Record.StoreAdvice
		}
		v.Trouble(statusLabel, text)
	}
	if s.Record.CommitError != "" {
		v.Trouble(statusLabel, "what is stored stays in the journal: "+s.Record.CommitError)
	}
	field("remote", remoteText(v, s.Record))
	if s.Record.Trouble != nil {
		v.Trouble(statusLabel, troubleText(v, *s.Record.Trouble))
	}
	if n := len(s.Record.Withheld); n > 0 {
		field("withheld", fmt.Sprintf("%s kept from the remote, such as %s", cli.Count(n, "message"), v.Path(s.Record.Withheld[0])))
	}
	field("bus", busAddresses(s.Bus)+unlinked(s))
	for _, link := range s.Bus.Peers {
		if link.Up || link.Problem == "" {
			field("link", linkState(link))
		} else {
			v.Alarm(statusLabel, "link", linkState(link))
		}
	}
	showBusTroubles(v, s.Bus, field)
	if s.Metrics != "" {
		field("metrics", s.Metrics)
	}
	if s.Commands.Waiting > 0 {
		field("commands", fmt.Sprintf("%d run, as many as max_commands in config.yaml allows; %s for a turn",
			s.Commands.Running, waitFor(s.Commands.Waiting, "agent")))
	}
	if len(s.Passed) > 0 {
		field("env", passedTo(s.Agents)+" of what the node was started with: "+strings.Join(s.Passed, " ")+" (choose: "+v.Command("parley agent set NAME --env VARIABLE")+")")
	}
	showWork(v, s.Agents)
	if s.Refused > 0 {
		field("refused", cli.Count(s.Refused, "message")+" since start: "+v.Command("parley record verify"))
	}
	if len(s.Flags) > 0 {
		field("flagged", flagged(s.Flags)+": "+v.Command("parley record verify"))
	}
}

// passedTo says which agents get all of the node's environment.
func passedTo(all []control.Agent) string {
	var names []string
	for _, a := range all {
		if len(a.Env) == 0 && a.RunAs == "" && (a.Command != "" || len(a.Tiers) > 0 || a.Wake != "") {
			names = append(names, a.Name.String())
		}
	}
	if len(names) > 3 {
		names = append(names[:3], fmt.Sprintf("%d more", len(names)-3))
	}
	if len(names) == 1 {
		return names[0] + " gets"
	}
	return strings.Join(names, ", ") + " get"
}

func showWork(v cli.View, all []control.Agent) {
	var sum control.Agent
	for _, a := range all {
		sum.Running, sum.Queued, sum.Failing, sum.Dead = sum.Running+a.Running, sum.Queued+a.Queued, sum.Failing+a.Failing, sum.Dead+a.Dead
	}
	var words []string
	if sum.Running > 0 {
		words = append(words, fmt.Sprintf("%d running", sum.Running))
	}
	if sum.Queued > 0 {
		words = append(words, fmt.Sprintf("%d waiting", sum.Queued))
	}
	if sum.Failing > 0 {
		words = append(words, fmt.Sprintf("%d of them failing", sum.Failing))
	}
	var see []string
	if len(words) > 0 {
		see = append(see, v.Command("parley agent queue"))
	}
	if sum.Dead > 0 {
		words, see = append(words, cli.Count(sum.Dead, "dead letter")), append(see, v.Command("parley agent dlq list"))
	}
	show := v.Labelled
	if sum.Failing > 0 || sum.Dead > 0 {
		show = v.Alarm
	}
	if len(words) > 0 {
		show(statusLabel, "work", strings.Join(words, ", ")+": "+strings.Join(see, ", "))
	}
}

// flagged says how many files of the record count for nothing, by kind.
func flagged(flags []control.Flag) string {
	words := map[string]string{
		"signature": "wrong signature", "replay": "copied to another path", "unreadable": "no message", "other-key": "another key than the host's",
		"lost-join": "join to a name that is taken", "old-key": "old key outside of its time", "revoked": "from a revoked key",
		"fork": "fork of a host's chain", "hole": "message of a host's chain that is not here", "conflict": "path claimed by another file",
	}
	var parts []string
	for _, f := range flags {
		text, known := words[f.Kind]
		if !known {
			text = term.Line(f.Kind)
		}
		parts = append(parts, fmt.Sprintf("%d %s", f.Count, text))
	}
	return strings.Join(parts, ", ")
}

func remoteText(v cli.View, r control.RecordStatus) string {
	if r.Remote == "" {
		return "none: the record is on this host alone"
	}
	text := fmt.Sprintf("%s, %d not pushed yet, %s", r.Remote, r.Unpushed, remoteUse(v, r))
	switch {
	case r.Trouble != nil: // a host that cannot push is not one of those that push for all
	case r.Courier == 1:
		text += "; this host pushes for all"
	case r.Courier > 1:
		text += fmt.Sprintf("; %s pushes for all, and this host what is left over", r.Pusher)
	}
	return text
}

// remoteUse says when the last fetch and push were. A node only knows its own, and not those of
// nodes that ran in its home before.
func remoteUse(v cli.View, r control.RecordStatus) string {
	fetched, pushed := "fetched "+v.At(r.LastFetch, cli.TimeForm), "pushed "+v.At(r.LastPush, cli.TimeForm)
	switch {
	case r.LastFetch.IsZero() && r.LastPush.IsZero():
		return "neither fetched nor pushed since the start"
	case r.LastFetch.IsZero():
		fetched = "not fetched since the start"
	case r.LastPush.IsZero():
		pushed = "nothing pushed since the start"
	}
	return fetched + ", " + pushed
}

// troubleText says in one line what is wrong with the remote, since when, what waits for it, when
// it is tried again, and what to do.
func troubleText(v cli.View, t control.Trouble) string {
	text := fmt.Sprintf("failing since %s (%s): %s; ", v.At(t.Since, cli.TimeForm), t.Kind, t.Text)
	switch {
	case t.Waiting == 0 && t.Pushing:
		text += "nothing waits, other hosts have pushed it; tried again with the next message that is left to this host"
	default:
		text += waitFor(t.Waiting, "message")
	}
	if !t.Next.IsZero() {
		text += ", next try " + v.At(t.Next, cli.TimeForm)
	}
	if t.Advice != "" {
		text += "; " + t.Advice + ", then: " + v.Command("parley fleet sync")
	}
	return text
}

func busAddresses(b control.BusStatus) string {
	if b.URL != "" {
		text := "the NATS system at " + b.URL + ", " + b.As
		if b.Context != "" {
			text += " (context " + b.Context + ")"
		}
		return text
	}
	var parts []string
	if b.Clients != "" {
		parts = append(parts, "NATS clients at "+b.Clients)
	}
	if b.Links != "" {
		parts = append(parts, "other hosts at "+b.Links+toldAddresses(b))
	}
	if len(parts) == 0 {
		return "in process, no port"
	}
	return strings.Join(parts, ", ")
}

// unlinked says that no link can come about, and what would help; "" if one can.
func unlinked(s control.Status) string {
	if !doctor.Unlinked(s) {
		return ""
	}
	return ", and no host is known that takes links: hosts meet through git alone; on one that others reach: parley fleet listen ADDRESS:PORT"
}

// toldAddresses are the addresses that the other hosts are told, if they differ from the address
// that is bound.
func toldAddresses(b control.BusStatus) string {
	all := strings.HasPrefix(b.Links, "0.0.0.0:") || strings.HasPrefix(b.Links, "[::]:")
	switch {
	case len(b.Advertised) == 0 && all:
		return " (this machine has no address that they could use: name one at bus.advertise)"
	case len(b.Advertised) == 0, len(b.Advertised) == 1 && b.Advertised[0] == b.Links:
		return ""
	}
	return " (they are told " + strings.Join(b.Advertised, ", ") + ")"
}

func linkState(l control.LinkStatus) string {
	peer := l.Peer
	if l.Host != "" && l.Address != "" {
		peer = fmt.Sprintf("%s at %s", l.Host, l.Address)
	}
	away := l.RTT.Duration().Round(10 * time.Microsecond)
	switch {
	case l.Up && l.Problem != "":
		return fmt.Sprintf("%s, up, %s away; %s", peer, away, l.Problem)
	case l.Up && l.RTT > 0:
		return fmt.Sprintf("%s, up, %s away", peer, away)
	case l.Up:
		return peer + ", up"
	case l.Connecting && (l.HalfUp || l.Problem == ""):
		return peer + ", connecting"
	case l.Connecting:
		return fmt.Sprintf("%s, connecting; so far: %s", peer, l.Problem)
	case l.HalfUp:
		return fmt.Sprintf("%s, half up: %s", peer, l.Problem)
	case l.Problem != "":
		return fmt.Sprintf("%s, down: %s", peer, l.Problem)
	}
	return peer + ", connecting" // the first try has not ended
}

func hostTable(v cli.View, hosts []control.HostStatus) {
	t := term.Table{Heading: []string{"HOST", "STATE", "SINCE", "LAST SEEN", "VERSION", "AGENTS"}, Flexible: 5}
	t.Paint = term.Paint{Column: 1, Style: func(row int, cell string) string { return host.Coloured(v, hosts[row].State, 0, cell) }}
	for _, h := range hosts {
		t.Rows = append(t.Rows, []string{
			h.Alias.String(), host.State(h.State), v.StampOrEmpty(h.Since), host.LastSeen(v, h.State, h.LastSeen),
			term.Line(h.Version), term.Line(strings.Join(h.Agents, ", ")),
		})
	}
	v.Table(t, cli.Squeeze{Column: 5, Least: 20}, cli.Squeeze{Column: 2, Least: cli.DayWidth, Cut: cli.ToDay}, cli.Squeeze{Column: 3, Least: cli.DayWidth, Cut: cli.ToDay})
}

// waitFor is "1 agent waits", "2 agents wait".
func waitFor(n int, noun string) string {
	if n == 1 {
		return cli.Count(n, noun) + " waits"
	}
	return cli.Count(n, noun) + " wait"
}

// showBusTroubles shows what goes wrong on the bus, and what went wrong a while ago.
func showBusTroubles(v cli.View, b control.BusStatus, field func(name, value string)) {
	if b.Dropped > 0 {
		field("dropped", fmt.Sprintf("%s since start, because they came too fast; what is missing is asked for again", cli.Count(int(b.Dropped), "letter")))
	}
	if doctor.Lately(b.Offended) {
		text := fmt.Sprintf("%s of hosts refused since start, %d unreadable", cli.Count(int(b.Letters), "letter"), b.Unreadable)
		if b.Letter != "" {
			text += "; refused last: " + b.Letter
		}
		v.Alarm(statusLabel, "bus", text)
	}
	if b.Held > 0 {
		field("held", fmt.Sprintf("%s of hosts whose key is not in the record yet; %d given up since start",
			cli.Count(b.Held, "message"), b.HeldDropped))
	}
	if b.Gaps > 0 {
		field("missed", fmt.Sprintf("%s of other hosts did not come over the bus and nobody had them yet: asked for again; %d left to git since start",
			cli.Count(b.Gaps, "message"), b.GapsLeft))
	}
	for _, r := range b.Refused {
		if !doctor.Lately(r.At) {
			continue
		}
		from := "on the subjects of " + r.From.String()
		if r.From == "" {
			from = "on subjects of other hosts"
		}
		v.Alarm(statusLabel, "refused", fmt.Sprintf("%s %s since start, the last: %s", cli.Count(r.Count, "message"), from, r.Last))
	}
}
