// Package with is parley work-with: what agents work on together, remembered.
package with

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/party"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/spelling"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

type call struct {
	words  []string // partner, topic and, if a flag takes its text that way, a text
	acting control.Acting
	flags  map[string]string // the flags that do something, by name

	anchor, item, reason, until, text string
	claims                            []string
	wait                              time.Duration
	persist                           bool // tell it on the topic's issue too
	fresh                             bool // open a topic, though one is called almost so, or it is closed
	byAgent                           bool // an agent calls, for itself
	confirm                           func(ctx context.Context, question string) bool

	client control.Service
	view   cli.View
	read   func(words []string) (string, error) // returns the text that the words are; "-" stands for standard input
}

// action is a flag that says what to do. Without such a flag, the partner or the topic is shown.
type action struct {
	flag, takes, help string // takes: name of its value, "" if it takes none
	beside            string // the flags that belong to it
	alone             bool   // it is about all partners: no words go with it
	partner           bool   // it needs a partner, as each deed does
	deed              protocol.Act
	run               func(ctx context.Context, c *call) error
}

// actions are what the command can do, in the order of its help.
func actions() []action {
	return []action{
		{flag: "sync", help: "put what we hold to the partner, show how far they hold it", beside: "claim wait persist", run: runSync},
		{flag: "list", help: "all active collaborations", run: runList},
		{flag: "status", help: "those with one partner, with phases and pending items", run: runStatus},
		{flag: "state", help: "where each stands on each item of a topic", partner: true, run: runState},
		{flag: "pending", help: "items that await my decision", run: runPending},
		{flag: "deferred", help: "items that I have put off", run: runDeferred},
		{flag: "sweep-timeouts", help: "write my files anew, and say what has timed out", alone: true, run: runSweep},
		{flag: "agree", takes: "TEXT", help: "propose an agreement", beside: "persist new", deed: protocol.ActAgree},
		{flag: "ask", takes: "TEXT", help: "put an open question on the list", beside: "persist new", deed: protocol.ActOpen},
		{flag: "resolve", takes: "ITEM", help: "settle a question or a difference (with --text OUTCOME)", beside: "text reason persist", deed: protocol.ActResolve},
		{flag: "teach", takes: "TEXT", help: "say what I learned from the partner", beside: "persist new", deed: protocol.ActTeachBack},
		{flag: "disagree", takes: "TEXT", help: "put on record what I see otherwise", beside: "persist new", deed: protocol.ActDisagree},
		{flag: "accept", takes: "ITEM", help: "commit to an item (with --text: what changes)", beside: "text reason persist", deed: protocol.ActAccept},
		{flag: "reject", takes: "ITEM", help: "decline an item, with --reason", beside: "reason persist", deed: protocol.ActReject},
		{flag: "defer", takes: "REASON", help: "put off what awaits me, or --item; --until DATE", beside: "item until persist", deed: protocol.ActDefer},
		{flag: "revoke", takes: "ITEM", help: "take a decision back, with --reason", beside: "reason persist", deed: protocol.ActRevoke},
		{flag: "re-accept", takes: "ITEM", help: "commit anew, to other words with --text", beside: "text reason persist", deed: protocol.ActReAccept},
		{flag: "validate", takes: "ITEM", help: "ask whether an agreement still holds", beside: "persist", deed: protocol.ActValidate},
		{flag: "checkpoint", help: "sum a topic up, all without one: with --text, else the agent is asked", partner: true, beside: "text wait persist", run: runCheckpoint},
		{flag: "recap", help: "what is active and what waits for me, for the start of a session", run: runRecap},
		{flag: "forward", help: "a checkpoint of every active topic, for the end of a session", beside: "text wait persist", run: runForward},
		{flag: "fleet-status", help: "who works with whom, on all hosts", alone: true, run: runFleetStatus},
		{flag: "mesh-json", help: "all parties as a graph, as JSON (parley party mesh)", alone: true, run: runMesh},
		{flag: "team", takes: "NAME", help: "what the parties with that tag come to (parley party team)", alone: true, run: runTeam},
		{flag: "ratify", help: "ratify the partner's last checkpoint", beside: "text reason persist", deed: protocol.ActRatified},
		{flag: "amend", takes: "TEXT", help: "say what is to change in it", beside: "persist", deed: protocol.ActAmendment},
		{flag: "reject-checkpoint", takes: "REASON", help: "reject it", beside: "persist", deed: protocol.ActRejected},
		{flag: "join", help: "ask two others to take part in their topic", beside: "reason text persist", deed: protocol.ActJoinRequest},
		{flag: "broadcast", help: "tell the fleet of a topic; other hosts only if a human agrees", partner: true, run: runBroadcast},
		{flag: "recruit", help: "whom one could ask into a party (parley party recruit)", alone: true, run: runRecruit},
		{flag: "close", help: "close my side of a topic; nothing is deleted", beside: "reason text persist", deed: protocol.ActClose},
	}
}

// Action is a flag of the command that says what to do.
type Action struct {
	Name  string
	Takes string // ITEM, TEXT, REASON or NAME; "" if it has no value
}

// Actions are what the command can do.
func Actions() (all []Action) {
	return each.Of(actions(), func(a action) Action { return Action{a.flag, a.takes} })
}

// NewCommand is parley work-with.
func NewCommand(p *cli.Program) *cobra.Command {
	c := &call{flags: map[string]string{}}
	cmd := &cobra.Command{
		Use:     "work-with PARTNER [TOPIC]",
		Aliases: []string{"with"},
		Short:   "What agents work on together: topics, agreements, scores",
		Long: `What agents work on together, remembered: topics with what was agreed, open
questions and differences, how far the two are in sync, and checkpoints. All of
it is in the record, so it survives the end of a session, and every host shows
the same.

Without a flag a partner's collaborations are shown, or one topic, which is
opened where it is new; so does what is put into it. Where another is called
almost so, or it is closed, you are asked first: --new says yes. Flags and words
may stand in any order. Where no topic is named, it is the only one that is open
with that partner.

An agent acts for itself. A person acts for the agent that --via names, for the
one in whose folder they are, or for the only one of this host; --via with their
own name is for themselves. Nobody decides for a partner.

--sync asks the partner how far it holds what was agreed, what is open and what
was taught: all topics with it, of several partners (mawjs,mawui) or all of them
side by side. Who does not answer in time has said nothing: a late result
counts, and the next --sync shows it.

Where a topic hangs on an issue (--anchor), --sync and --recap read what is new
there, and --persist tells there what is done, once. Both need the program gh,
signed in; without it the step is skipped and says so. A partner whom no host
serves is asked on the issue.`,
		Example: `  parley work-with mawjs                                  what we have
  parley work-with mawjs "tmux design" --anchor 332       load or open a topic
  parley work-with mawjs "tmux design" --agree "Four keys"
  parley work-with mawjs "tmux design" --accept A1
  parley work-with mawjs --defer "after the release" --until 2027-04-20
  parley work-with mawjs --sync --claim "The port is 4222"
  parley work-with --pending`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: p.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			chosen, err := c.chosen(cmd)
			if err != nil {
				return err
			}
			c.words, c.view, c.confirm = args, p.View(), p.Confirm
			c.byAgent = p.Getenv("PARLEY_AGENT") != "" || p.Getenv("PARLEY_TOKEN") != ""
			c.read = func(words []string) (string, error) { return p.Text(cmd, words) }
			if chosen == nil && c.persist {
				chosen = &action{flag: "persist", partner: true, run: runPersist}
			}
			if err := besides(cmd, chosen); err != nil {
				return err
			}
			switch {
			case chosen == nil && len(args) == 0:
				return cli.UsageErrorf(cmd, "name a partner, or say what to do, such as --list")
			case chosen != nil && chosen.alone && len(args) > 0:
				return cli.UsageErrorf(cmd, "--%s is of all partners: it goes without %q", chosen.flag, args[0])
			}
			if c.acting.Dir, err = os.Getwd(); err != nil {
				c.acting.Dir = "" // it only helps to find out for whom to act
			}
			if c.client, err = p.Client(); err != nil {
				return err
			}
			if p.ForPeople() && c.flags["mesh-json"] == "" {
				c.view.Out.Printf("%s\n", c.view.Out.Dim(c.view.Now().In(c.view.Zone).Format("🕐 15:04 MST (Monday 02 January 2006)")))
			}
			switch {
			case chosen == nil:
				return runShow(cmd.Context(), c)
			case c.partner() == "" && (chosen.partner || chosen.deed != ""):
				return control.Errorf(control.KindUsage, "such as: parley work-with mawjs --"+chosen.flag, "--%s needs a partner", chosen.flag)
			case chosen.run != nil:
				return chosen.run(cmd.Context(), c)
			}
			return runDeed(cmd.Context(), c, *chosen)
		},
	}
	// The commands for parties, which the seed has below this command.
	cmd.AddCommand(party.NewOrganizeCommand(p), party.NewInviteCommand(p), party.NewWhoCommand(p), party.NewTellCommand(p), party.NewLeaveCommand(p))
	f := cmd.Flags()
	f.SortFlags = false
	for _, a := range actions() {
		if a.takes == "" {
			f.Bool(a.flag, false, a.help)
		} else {
			f.Var(&word{takes: a.takes}, a.flag, a.help)
		}
	}
	f.StringVar(&c.anchor, "anchor", "", "the `ISSUE` that a topic hangs on: 332, repo#332")
	f.BoolVar(&c.fresh, "new", false, "open the topic without asking")
	f.StringVar(&c.item, "item", "", "the `ITEM` that is put off, by its label or its words")
	f.StringVar(&c.reason, "reason", "", "`WHY`")
	f.StringArrayVar(&c.claims, "claim", nil, "with --sync, a `TEXT` that is claimed in this check alone")
	f.BoolVar(&c.persist, "persist", false, "comment on the topic's issue too; alone: what I did last")
	cli.DurationFlag(f, &c.wait, "wait", "for --sync how long (default 1m here, else 5m), for a checkpoint 1m")
	f.StringVar(&c.text, "text", "", "`TEXT` that goes with it; - for standard input")
	f.StringVar(&c.until, "until", "", "until which `DATE` it is put off (default: a day)")
	f.StringVar(&c.acting.As, "via", "", "for which agent, `NAME`")
	p.JSONFlag(cmd, "print it as JSON")
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var bare *pflag.ValueRequiredError
		if errors.As(err, &bare) && bare.GetSpecifiedName() == "anchor" {
			return cli.UsageErrorf(cmd, "--anchor needs an issue: in a shell #332 begins a comment, so write --anchor 332 or --anchor '#332'")
		}
		return cmd.Parent().FlagErrorFunc()(cmd, err)
	})
	return cmd
}

// chosen returns the one action that is to be done; nil if something is only shown.
func (c *call) chosen(cmd *cobra.Command) (chosen *action, err error) {
	for _, a := range actions() {
		flag := cmd.Flags().Lookup(a.flag)
		if !flag.Changed || a.takes == "" && flag.Value.String() != "true" {
			continue
		}
		if chosen != nil {
			return nil, cli.UsageErrorf(cmd, "--%s and --%s are two things: do one after the other", chosen.flag, a.flag)
		}
		c.flags[a.flag] = flag.Value.String()
		chosen = &a
	}
	return chosen, nil
}

// besides returns an error if there are flags that belong to another action: what is typed in vain
// is a slip.
func besides(cmd *cobra.Command, chosen *action) error {
	const opens = "a topic that is opened or shown"
	takes := map[string][]string{"anchor": {opens}, "new": {opens}}
	for _, a := range actions() {
		for _, flag := range strings.Fields(a.beside) {
			takes[flag] = append(takes[flag], "--"+a.flag)
		}
	}
	takes["persist"] = []string{"what is done in a topic", "--sync", "--checkpoint", "--forward"}
	for _, flag := range []string{"anchor", "new", "item", "reason", "claim", "persist", "wait", "text", "until"} {
		switch {
		case !cmd.Flags().Changed(flag), chosen == nil && takes[flag][0] == opens, chosen != nil && (chosen.flag == flag || slices.Contains(strings.Fields(chosen.beside), flag)):
			continue
		case chosen == nil:
			return cli.UsageErrorf(cmd, "--%s goes with %s", flag, strings.Join(takes[flag], ", "))
		}
		return cli.UsageErrorf(cmd, "--%s goes with %s, and not with --%s", flag, strings.Join(takes[flag], ", "), chosen.flag)
	}
	return nil
}

func (c *call) viewing() control.Viewing {
	return control.Viewing{For: c.acting.As, Dir: c.acting.Dir}
}

// word is the value of a flag that does something. `takes` is the name of the value in help.
type word struct{ text, takes string }

// String is the value that was given.
func (w *word) String() string { return w.text }

// Set takes the value that was given.
func (w *word) Set(text string) error {
	w.text = text
	return nil
}

// Type is the name of the value in help.
func (w *word) Type() string { return w.takes }

func (c *call) command(words ...string) string {
	line := "parley work-with " + strings.Join(words, " ")
	if c.acting.As != "" {
		line += " --via " + term.Shell(c.acting.As)
	}
	return line
}

func (c *call) partner() string {
	if len(c.words) == 0 {
		return ""
	}
	return c.words[0]
}

// topic is the second word: a topic of several words is quoted.
func (c *call) topic() string {
	if len(c.words) < 2 {
		return ""
	}
	return strings.Join(c.words[1:], " ")
}

// runShow shows what there is with a partner, or a topic. If the topic is new, it opens it.
func runShow(ctx context.Context, c *call) error {
	if c.topic() == "" {
		if c.anchor != "" {
			return control.Errorf(control.KindUsage, "name it: parley work-with "+c.partner()+" \"topic\" --anchor "+c.anchor, "--anchor needs a topic")
		}
		return runRelation(ctx, c)
	}
	t, err := control.ShowTopic.Ask(ctx, c.client, control.TopicRequest{Viewing: c.viewing(), With: c.partner(), Topic: c.topic()})
	switch {
	case err != nil && control.AsError(err).Kind != control.KindNotFound:
		return err
	case err != nil || c.anchor != "" || t.Status == "CLOSED" || !t.Derived:
		if t, err = c.open(ctx, t); err != nil {
			return err
		}
	}
	return c.showTopic(t)
}

// open opens a topic that is new, closed, or to hang on an issue. `before` is what it was; empty if
// there was none. Where something else may be meant, it asks first.
func (c *call) open(ctx context.Context, before control.Topic) (control.Topic, error) {
	if meant, err := c.means(ctx, before); !meant {
		return before, err
	}
	r := control.OpenTopicRequest{Acting: c.acting, With: c.partner(), Topic: c.topic(), Anchor: c.anchor}
	if c.anchor != "" {
		r.Origin = cli.Origin(ctx)
	}
	after, err := control.OpenTopic.Ask(ctx, c.client, r)
	if err == nil && !c.view.JSON {
		switch {
		case !before.Derived:
			c.view.Out.Printf("Opened %q with %s, for %s\n\n", term.Line(after.Name), term.Line(after.With), term.Line(after.Me))
		case before.Status == "CLOSED":
			c.view.Out.Printf("Opened %q again: term %d. What was agreed before is history\n\n", term.Line(after.Name), after.Terms)
		case before.Anchor != after.Anchor:
			c.view.Out.Printf("%q hangs on %s now\n\n", term.Line(after.Name), term.Line(after.Anchor))
		}
	}
	return after, err
}

// means reports whether a topic is to be opened. It asks if that one is closed, or is new and
// called almost like another one. A closed one that stays closed is no error: it can be looked at.
func (c *call) means(ctx context.Context, before control.Topic) (bool, error) {
	closed := before.Status == "CLOSED"
	if c.fresh || before.Name != "" && !closed {
		return true, nil
	}
	what, again := fmt.Sprintf("%q with %s is closed", term.Line(before.Name), term.Line(c.partner())), c.command(term.Shell(c.partner()), term.Shell(c.topic()), "--new")
	if !closed {
		near := c.near(ctx)
		if len(near) == 0 {
			return true, nil
		}
		what = fmt.Sprintf("there is no topic %q with %s, but %s", term.Line(c.topic()), term.Line(c.partner()), strings.Join(near, ", "))
	}
	switch {
	case !c.byAgent && c.confirm(ctx, what+". Open it? [y/N] "):
		return true, nil
	case closed && c.anchor == "":
		if !c.view.JSON {
			c.view.Out.Printf("Closed; open it again: %s\n\n", c.view.Command(again))
		}
		return false, nil
	}
	return false, control.Errorf(control.KindConflict, "open it all the same: "+again, "opened nothing: %s", what)
}

// near are the topics with the partner of which one may be meant, as they are shown.
func (c *call) near(ctx context.Context) (names []string) {
	list, err := control.Topics.Ask(ctx, c.client, control.TopicsRequest{Viewing: c.viewing(), With: c.partner(), Closed: true})
	if err != nil {
		return nil // whoever opens the topic is told
	}
	typed := strings.ToLower(c.topic())
	for _, t := range list.Topics {
		name := strings.ToLower(t.Name)
		another := strings.HasPrefix(typed, name+" ") || withoutDigits(typed) == withoutDigits(name) // with a word more or another number it is meant
		if !another && spelling.Near(typed, name) {
			names = append(names, fmt.Sprintf("%q", term.Line(t.Name)))
		}
	}
	return names
}

func withoutDigits(name string) string { return strings.Trim(name, "0123456789.") }
