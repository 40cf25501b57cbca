package host

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// linksPort is the port for links that is offered to a host which takes none yet.
const linksPort = "4223"

func newInviteCommand(p *cli.Program) *cobra.Command {
	var r control.InvitationRequest
	var lasts time.Duration
	cmd := &cobra.Command{
		Use:   "invite",
		Short: "Invite another machine, by a line that somebody types there",
		Long: `Print an invitation line, by which another machine joins the fleet: parley join
asks for it there. No git server is needed. Give the line to nobody else: who
has it can knock, as often as --uses says, until it expires.

Then wait for who knocks. Their name, their key's fingerprint and three words
are shown. Let them in only if the other screen shows the same words: ask by
telephone, or look. A no burns the line. So does a use that fails, or one more
than --uses. The command may be ended meanwhile: "parley fleet invite wait"
takes it up again, and status says when somebody knocks.

With --yes nobody is asked: whoever has the line is let in. Such a line counts
for 10 minutes at most.

A host that takes no links yet begins to, at an address of this machine that you
choose, or --listen. It stays so: the address is written into config.yaml.

A person decides who is let in. An agent is refused.`,
		Example: `  parley fleet invite
  parley fleet invite --uses 15 --for 24h
  parley fleet invite --listen 192.0.2.7:4223 --advertise white.example:4223`,
		Args: cli.UnknownCommand,
		RunE: p.Asking(func(cmd *cobra.Command, _ []string, client control.Service, v cli.View) error {
			r.For = control.Seconds(lasts)
			if err := chooseAddress(cmd.Context(), p, client, &r); err != nil {
				return err
			}
			made, err := control.MakeInvitation.Ask(cmd.Context(), client, r)
			if err = v.Show(made, err, func() { showLine(made, v) }); err != nil || v.JSON {
				return err
			}
			if tty, err := p.Terminal(); err == nil {
				_ = tty.Close()
			} else if !r.Unasked {
				v.Err.Printf("nobody is at a terminal here: who knocks is let in by: parley fleet invite wait\n")
				return nil
			}
			return waiting(p)(cmd, nil)
		}),
	}
	f := cmd.Flags()
	f.IntVar(&r.Uses, "uses", 1, "how many machines may join by the line")
	f.DurationVar(&lasts, "for", control.MaxUnasked, "how long the line counts, at most 720h")
	f.BoolVar(&r.Unasked, "yes", false, "let in whoever has the line, without asking; for 10 minutes at most")
	f.StringVar(&r.Listen, "listen", "", "`address:port` at which this host takes links from now on, if it takes none yet")
	f.StringArrayVar(&r.Advertise, "advertise", nil, "`host:port` at which the other machine reaches this one, where it is another (repeatable)")
	p.JSONFlag(cmd, "print the line as JSON, and do not wait")
	wait := &cobra.Command{
		Use: "wait", Short: "Wait for who knocks with an invitation line, and decide",
		Long: `Wait for machines that knock with an invitation line of this host, and ask
whether to let them in, until no line is open any more. Ctrl-C ends it, and the
lines stay as they are.`,
		Example: `  parley fleet invite wait`, Args: cli.Exactly(0, "nothing"), RunE: waiting(p),
	}
	list := p.JSONFlag(&cobra.Command{
		Use: "list", Short: "List invitation lines, and who came by them",
		Example: `  parley fleet invite list`, Args: cli.Exactly(0, "nothing"),
		RunE: cli.Asks(p, control.Invitations, nil, func(v cli.View, list control.InvitationList) { showLines(list.Lines, v) }),
	}, "print the lines as JSON")
	revoke := p.JSONFlag(&cobra.Command{
		Use: "revoke ID", Short: "End an invitation line",
		Long: `End an invitation line. Who knocks by it is refused, and so is who was let in by
it and is not in the fleet yet. A host that has joined stays: see parley fleet
revoke.`,
		Example: `  parley fleet invite revoke 1f2e3d4c`, Args: cli.Exactly(1, "the line's id"),
		RunE: cli.Asks(p, control.RevokeInvitation, func(args []string) control.InvitationName { return control.InvitationName{ID: args[0]} },
			func(v cli.View, l control.Invitation) { v.Out.Printf("the invitation line %s is revoked\n", l.ID) }),
	}, "print what was done as JSON")
	cmd.AddCommand(wait, list, revoke)
	return cmd
}

// chooseAddress has a person choose where a host that takes no links is to take them.
func chooseAddress(ctx context.Context, p *cli.Program, client control.Service, r *control.InvitationRequest) error {
	s, err := control.ShowStatus.Ask(ctx, client)
	if err != nil || r.Listen != "" || s.Bus.Links != "" || s.Bus.URL != "" || !p.Err.Terminal || !term.IsTerminal(p.Stdin) {
		return err // the node says what is missing
	}
	var all []string
	addresses, _ := net.InterfaceAddrs() // none are offered then
	for _, address := range addresses {
		if in, ok := address.(*net.IPNet); ok && in.IP.IsGlobalUnicast() {
			all = append(all, net.JoinHostPort(in.IP.String(), linksPort))
		}
	}
	if len(all) == 0 {
		return nil
	}
	p.Err.Printf("Where can the other machine reach this one?\n\n")
	for n, address := range all {
		p.Err.Printf("  %d  %s\n", n+1, address)
	}
	for {
		typed, err := p.Ask(ctx, "\nA number, or another address:port [1]: ")
		if err != nil {
			return err
		}
		if n, err := strconv.Atoi(cmp.Or(typed, "1")); err == nil && n >= 1 && n <= len(all) {
			typed = all[n-1]
		}
		if _, _, err := net.SplitHostPort(typed); err == nil {
			r.Listen = typed // the node says what else is wrong with it
			return nil
		}
		p.Err.Printf("%s is neither.\n", term.Line(strconv.Quote(typed)))
	}
}

func showLine(l control.Invitation, v cli.View) {
	v.Out.Printf("%s\n", l.Line)
	uses := "for one machine"
	if l.Uses > 1 {
		uses = fmt.Sprintf("for %d machines", l.Uses)
	}
	v.Err.Printf("%s\n", strings.Join(cli.WrapWords(fmt.Sprintf("This line counts until %s, %s. On the other machine: parley join",
		l.Expires.In(v.Zone).Format("15:04 on Jan 2"), uses), v.Err.Width), "\n"))
}

// waiting shows who knocks, and asks whether to let them in, until no line is open and nobody asks.
func waiting(p *cli.Program) cli.Run {
	return p.Asking(func(cmd *cobra.Command, _ []string, client control.Service, v cli.View) error {
		w, ctx := watch{p: p, v: v, client: client, said: map[string]string{}, joins: map[string]time.Time{}}, cmd.Context()
		for after := 0; ; {
			asking, cancel := ctx, func() {}
			if after > 0 {
				asking, cancel = context.WithDeadline(ctx, w.until)
			}
			list, err := control.Invitations.Ask(asking, client, control.InvitationsRequest{After: after})
			late := asking.Err() != nil && ctx.Err() == nil
			cancel()
			if late && after > 0 {
				after = 0 // a line has expired: nobody tells of that
				continue
			}
			if err != nil {
				return err
			}
			if over, err := w.look(ctx, list.Lines); over || err != nil {
				return err
			}
			after = list.Number
		}
	})
}

// watch is what a person who waits has been told.
type watch struct {
	p      *cli.Program
	v      cli.View
	client control.Service
	said   map[string]string    // states, by the id of a line or knock
	until  time.Time            // when to look again
	begun  bool                 // it has looked once
	joins  map[string]time.Time // until when to wait for a host that was let in here, by the id of its knock
}

// look tells what is new, and asks about who knocks. It reports whether there is nothing to wait for.
func (w *watch) look(ctx context.Context, lines []control.Invitation) (over bool, err error) {
	over = true
	joining := false
	var asks []control.Knock
	w.until = time.Now().Add(time.Second)
	for _, l := range lines {
		if l.State == control.LineOpen {
			over = false
			w.until = slices.MaxFunc([]time.Time{w.until, l.Expires}, time.Time.Compare)
		}
		if l.State == control.LineExpired {
			w.tell(l.ID, l.State, true, "the line "+l.ID+" has expired; for another one: parley fleet invite")
		}
		w.tell(l.ID, l.State, l.State == control.LineBurnt, "the line "+l.ID+" is burnt: "+l.Why)
		for _, k := range l.Knocks {
			if k.State == control.KnockAsks {
				over = false
				w.until = slices.MaxFunc([]time.Time{w.until, time.Now().Add(time.Hour)}, time.Time.Compare)
				if k.Words != "" && w.said[k.ID] != k.State {
					asks = append(asks, k)
				}
				continue
			}
			if k.State == control.KnockAllowed && time.Now().Before(w.joins[k.ID]) {
				over, joining = false, true
			}
			w.tell(k.ID, k.State, true, fmt.Sprintf("%s (%s) %s", k.Alias, k.Address, knockWords[k.State]))
		}
	}
	if joining { // that a host is in the record changes no line
		w.until = time.Now().Add(time.Second)
	}
	first := !w.begun
	w.begun = true
	for _, k := range asks {
		w.said[k.ID] = k.State
		if err := w.decide(ctx, k); err != nil {
			return false, err
		}
	}
	if over && first {
		w.v.None("no invitation line is open")
	}
	return over, nil
}

// tell says that a line or knock is in another state than before, unless it was so from the beginning.
func (w *watch) tell(id, state string, say bool, text string) {
	if was, known := w.said[id]; say && was != state && (known || w.begun) {
		w.v.Say(text)
	}
	w.said[id] = state
}

// joinTime is for how long somebody who let a host in waits until it has joined.
const joinTime = time.Minute

// knockWords say what became of a knock.
var knockWords = map[string]string{
	control.KnockAllowed: "is let in, and joins now: parley fleet hosts",
	control.KnockJoined:  "has joined the fleet",
	control.KnockRefused: "was refused",
	control.KnockGone:    "went away before it was answered",
}

// decide asks the person at the terminal whether to let somebody in.
func (w *watch) decide(ctx context.Context, k control.Knock) error {
	links := "no"
	if k.Takes {
		links = "yes"
	}
	const label = len("fingerprint: ")
	w.v.Out.Printf("\n%s of %s knocks, from %s\n", w.v.Out.Bold(k.Alias.String()), k.Human, k.Address)
	w.v.Labelled(label, "fingerprint", k.Fingerprint)
	w.v.Labelled(label, "takes links", links)
	w.v.Labelled(label, "words", k.Words)
	yes, err := w.p.Decide(ctx, "Does the other screen show the same words, and may it join? [y/N] ")
	if err != nil {
		return err
	}
	w.joins[k.ID] = time.Now().Add(joinTime)
	if _, err = control.AnswerKnock.Ask(ctx, w.client, control.KnockAnswer{ID: k.ID, Yes: yes}); err != nil && control.AsError(err).Kind == control.KindConflict {
		w.v.Note(err.Error()) // it went meanwhile
		return nil
	}
	return err
}

func showLines(lines []control.Invitation, v cli.View) {
	if len(lines) == 0 {
		v.None("no invitation lines")
		return
	}
	t := term.Table{Heading: []string{"LINE", "STATE", "USED", "UNTIL", "WHO"}, Flexible: 4}
	for _, l := range lines {
		who := each.Of(l.Knocks, func(k control.Knock) string { return fmt.Sprintf("%s (%s)", k.Alias, k.State) })
		t.Rows = append(t.Rows, []string{l.ID, l.State, fmt.Sprintf("%d of %d", l.Used, l.Uses), v.Stamp(l.Expires), strings.Join(who, ", ")})
	}
	v.Table(t)
	for _, l := range lines {
		if l.Why != "" {
			v.Note(l.ID + " is burnt: " + l.Why)
		}
	}
}
