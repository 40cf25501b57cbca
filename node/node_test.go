package node

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

func TestAgentAnswersAndStagesRise(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	may := filepath.Join(t.TempDir(), "may")
	addExec(t, n, "shout", "sh -c 'until test -e "+may+"; do sleep 0.01; done; tr a-z A-Z'")
	asked := say(t, n, "shout", "hello")
	if asked.Stage != protocol.StageStored && asked.Stage != protocol.StageRecorded {
		t.Errorf("the message is %s, want stored", asked.Stage)
	}
	if err := os.WriteFile(may, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	answer := answerTo(t, n, asked.Path)
	if answer.Body != "HELLO" || answer.From != "shout" || answer.Act != protocol.ActReply || answer.Signature != protocol.SignatureValid {
		t.Errorf("the answer is %+v", answer)
	}
	shown, err := control.Show.Ask(t.Context(), n, control.ShowRequest{Path: asked.Path.String()})
	if err != nil || shown.Stage != protocol.StageAnswered {
		t.Errorf("the question is %s, %v; want answered", shown.Stage, err)
	}
}

// A crash or a restart must not make an agent answer twice. Crosstalk C23.
func TestAnsweredMailIsNotRunAgain(t *testing.T) {
	home := initHome(t, nil)
	n, stop := runNode(t, home)
	runs := filepath.Join(t.TempDir(), "runs")
	addExec(t, n, "counter", "sh -c 'echo run >> "+runs+"; echo done'")
	first := say(t, n, "counter", "one")
	answerTo(t, n, first.Path)
	before := everything(t, n)
	stop()

	n, _ = runNode(t, home)
	if diff := cmp.Diff(paths(before), paths(everything(t, n))); diff != "" {
		t.Errorf("the record differs after a restart (-before +after):\n%s", diff)
	}
	second := say(t, n, "counter", "two")
	answerTo(t, n, second.Path)
	if data, err := os.ReadFile(runs); err != nil || strings.Count(string(data), "run") != 2 {
		t.Errorf("the command ran %d times, %v; want 2", strings.Count(string(data), "run"), err)
	}
}

func paths(all []control.Message) []string {
	var list []string
	for _, m := range all {
		list = append(list, m.Path.String())
	}
	slices.Sort(list)
	return list
}

func TestLetterThatComesByBothDoorsIsOne(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	hub := initHome(t, func(o *homes.Options) { o.Remote, o.Listen = remote, "127.0.0.1:0" })
	a, _ := runNode(t, hub)
	status, err := control.ShowStatus.Ask(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := runNode(t, initHome(t, func(o *homes.Options) {
		o.Remote, o.Alias, o.Hubs = remote, "white", []string{status.Bus.Links}
	}))
	addExec(t, b, "shout", "tr a-z A-Z")
	eventually(t, "the hosts are live to each other", func() bool {
		_, there := a.live.PresenceOf("white")
		_, here := b.live.PresenceOf("oracle-world")
		return there && here
	})
	eventually(t, "the agent is known on the other host", func() bool { return a.reading(func() bool { return a.state.People.Known("shout") }) })

	m, err := control.Send.Ask(t.Context(), a, control.SendRequest{To: []string{"white:shout"}, Body: "over there", HeardWithin: within})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(m.Heard, "white") {
		t.Errorf("the message was heard by %v, want white", m.Heard)
	}
	if answer := answerTo(t, a, m.Path); answer.Body != "OVER THERE" || answer.Host != "white" {
		t.Errorf("the answer is %+v", answer)
	}
	eventually(t, "both records are the same and on the remote", func() bool {
		x, y := a.record.Status(), b.record.Status()
		return x.Tip == y.Tip && x.Unpushed+x.Unrecorded+y.Unpushed+y.Unrecorded == 0
	})
	all := everything(t, a)
	if diff := cmp.Diff(paths(all), paths(everything(t, b))); diff != "" {
		t.Errorf("the hosts differ (-a +b):\n%s", diff)
	}
	if count := len(slices.Compact(paths(all))); count != len(all) {
		t.Errorf("%d of %d messages stand twice", len(all)-count, len(all))
	}
}

// reading reads the state under the lock that guards it.
func (n *Node) reading(read func() bool) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return read()
}

// A file with a wrong signature is refused once and named, and changes nothing.
func TestWrongSignatureIsRefused(t *testing.T) {
	t.Parallel()
	n, _ := runNode(t, initHome(t, nil))
	addExec(t, n, "shout", "tr a-z A-Z")
	real := say(t, n, "shout", "hello")
	answerTo(t, n, real.Path)
	data, err := n.record.Get(real.Path)
	if err != nil {
		t.Fatal(err)
	}
	forged := protocol.NewPath(real.Channel, real.Timestamp, 1)
	before := n.reading(func() bool { _, there := n.state.Ledger.Item(forged); return there })
	for range 3 {
		n.Receive([]gitsync.MessageFile{{Path: forged, Data: data}}, byGit)
	}
	after := n.reading(func() bool { _, there := n.state.Ledger.Item(forged); return there })
	status, err := control.ShowStatus.Ask(t.Context(), n)
	if err != nil || before || after || status.Refused != 1 || len(status.Warned) != 1 {
		t.Errorf("there before %t, after %t, refused %d, warnings %q, %v; want one refusal and nothing else",
			before, after, status.Refused, status.Warned, err)
	}
}

// A channel that hosted remotes will not take well is named once.
func TestBusyDayIsWarnedAboutOnce(t *testing.T) {
	t.Parallel()
	n, _ := runNode(t, initHome(t, nil))
	channel := protocol.NewChannelID([16]byte{1})
	at := time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)
	for i := 1; i <= busyDay+2; i++ {
		p := protocol.NewPath(channel, at, uint32(i))
		data, err := protocol.Encode(&protocol.Message{From: "eve", To: []protocol.Address{{Name: "neo"}}, Type: protocol.TypeText, Timestamp: at, Body: "x"})
		if err != nil {
			t.Fatal(err)
		}
		n.Receive([]gitsync.MessageFile{{Path: p, Data: data}}, byGit)
		if i < busyDay {
			continue
		}
		want := min(1, i-busyDay)
		status, err := control.ShowStatus.Ask(t.Context(), n)
		if err != nil || len(status.Warned) != want || want > 0 && !strings.Contains(status.Warned[0], p.DayDir()+" has more than 3000 messages") {
			t.Errorf("after %d messages: %q, %v; want %d warnings", i, status.Warned, err, want)
		}
	}
}

// A host file that somebody pushes is only data: its command is never run, and its key never
// believed (R12). Crosstalk D34.
func TestHostFileFromTheRecordIsOnlyShown(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	n, _ := runNode(t, initHome(t, func(o *homes.Options) { o.Remote = remote }))
	addExec(t, n, "shout", "tr a-z A-Z")
	clone := cloneOf(t, remote)
	eventually(t, "the agent is in the shared host file", func() bool {
		git(t, clone, "pull", "--quiet")
		data, _ := os.ReadFile(filepath.Join(clone, "hosts", "oracle-world.md"))
		return strings.Contains(string(data), "shout")
	})
	file := filepath.Join(clone, "hosts", "oracle-world.md")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pwned := filepath.Join(t.TempDir(), "pwned")
	text := strings.Replace(string(data), "count: 1", "cli: touch "+pwned+", count: 1", 1)
	text = strings.Replace(text, "key: "+n.signsWith.Load().Public, "key: UAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", 1)
	text = strings.Replace(text, "---\n\n", "---\n\nKept by a person.\n", 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, clone, "commit", "--quiet", "-am", "edit")
	push(t, clone)
	n.record.Ring()
	eventually(t, "the edit is warned about", func() bool {
		s, err := control.ShowStatus.Ask(t.Context(), n)
		return err == nil && slices.ContainsFunc(s.Warned, func(w string) bool { return strings.Contains(w, "another key") })
	})
	answerTo(t, n, say(t, n, "shout", "still there?").Path)
	if _, err := os.Stat(pwned); err == nil {
		t.Error("the command of a pushed host file was run")
	}
	eventually(t, "the host file is rendered again, with what the person wrote", func() bool {
		data, _, err := n.record.ReadFile(protocol.HostFilePath("oracle-world"))
		return err == nil && strings.Contains(string(data), n.signsWith.Load().Public) && strings.Contains(string(data), "Kept by a person.")
	})
}

func TestMailOlderThanTheAgentIsShownNotRun(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	n, _ := runNode(t, initHome(t, func(o *homes.Options) { o.Remote = remote }))
	clone := cloneOf(t, remote)
	old := plainMail(t, clone, "3f2504e0-4f89-41d3-9a0c-0305e82c3301", "20260523T190000000", "alice", "shout", "old")
	push(t, clone)
	n.record.Ring()
	eventually(t, "the mail has arrived", func() bool { _, err := n.talk.Views.Item(old.String()); return err == nil })
	addExec(t, n, "shout", "tr a-z A-Z")
	fresh := plainMail(t, clone, "3f2504e0-4f89-41d3-9a0c-0305e82c3301", "20260523T180000000", "alice", "shout", "older date, newer push")
	push(t, clone)
	n.record.Ring()
	eventually(t, "the new mail has arrived", func() bool { _, err := n.talk.Views.Item(fresh.String()); return err == nil })
	if answer := answerTo(t, n, fresh); answer.Body != "OLDER DATE, NEWER PUSH" {
		t.Errorf("the answer is %q", answer.Body)
	}
	box, err := control.Inbox.Ask(t.Context(), n, control.InboxRequest{As: "shout"})
	if err != nil || len(box) != 1 || box[0].Path != old {
		t.Errorf("the inbox holds %v, %v; want the old mail, unread", paths(box), err)
	}
}

// Crosstalk D35.
func TestSecondHostOfAnAliasStaysOut(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	initHome(t, func(o *homes.Options) { o.Remote = remote })
	home := configs.Home{Dir: filepath.Join(t.TempDir(), "second")}
	_, err := Init(t.Context(), homes.Options{Home: home, Version: "test", Alias: "oracle-world", Human: "nat", Remote: remote})
	var refusal *control.Error
	if !errors.As(err, &refusal) || refusal.Kind != control.KindConflict || refusal.Hint == "" {
		t.Errorf("init says %v, want a conflict with a hint", err)
	}
	if _, err := os.Stat(home.Dir); err == nil {
		t.Error("a refused init left its home behind")
	}
}

func TestInitRefusesWhatIsNoRecordOfOurs(t *testing.T) {
	t.Parallel()
	foreign := bareRemote(t)
	clone := cloneOf(t, foreign)
	if err := os.WriteFile(filepath.Join(clone, "README"), []byte("code\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, clone, "add", "README")
	git(t, clone, "commit", "--quiet", "-m", "code")
	git(t, clone, "push", "--quiet", "origin", "HEAD:main")
	ours := bareRemote(t)
	initHome(t, func(o *homes.Options) { o.Remote = ours })
	for name, o := range map[string]homes.Options{
		"other content":  {Remote: foreign},
		"another fleet":  {Remote: ours, Fleet: "elsewhere"},
		"nothing there":  {Remote: filepath.Join(t.TempDir(), "missing.git")},
		"a bad name":     {Alias: "No Alias"},
		"a bad address":  {Listen: "nowhere"},
		"a remote flag":  {Remote: "--upload-pack=touch pwned"},
		"a remote shell": {Remote: "ext::sh -c touch% pwned"},
	} {
		t.Run(name, func(t *testing.T) {
			o.Home, o.Version, o.Human = configs.Home{Dir: filepath.Join(t.TempDir(), "home")}, "test", "nat"
			if o.Alias == "" {
				o.Alias = "black"
			}
			if _, err := Init(t.Context(), o); err == nil {
				t.Error("init succeeded")
			}
			if _, err := os.Stat(o.Home.Dir); err == nil {
				t.Error("a refused init left its home behind")
			}
		})
	}
	out, err := exec.Command("git", "-C", foreign, "rev-list", "--count", "main").Output()
	if err != nil || strings.TrimSpace(string(out)) != "1" {
		t.Errorf("the foreign repository has %s commits, %v; want its own one", out, err)
	}
}

// Two fleets that begin in the same second with the same names must not share a
// record id, or the signatures of one would hold in the other.
func TestNoTwoRecordsAreAlike(t *testing.T) {
	seen := map[string]bool{}
	for range 3 {
		n, err := Open(t.Context(), Options{Home: initHome(t, nil), Version: "test"})
		if err != nil {
			t.Fatal(err)
		}
		seen[n.record.ID()] = true
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 3 {
		t.Errorf("three records have %d ids", len(seen))
	}
}

// Two inits run at a time. One of them makes the home, and the other must neither break it nor take
// it away.
func TestTwoInitsAtOnceMakeOneHome(t *testing.T) {
	home := configs.Home{Dir: filepath.Join(t.TempDir(), "home")}
	results := make(chan error, 4)
	for range cap(results) {
		go func() { // ends with its init
			_, err := Init(t.Context(), homes.Options{Home: home, Version: "test", Alias: "white", Human: "nat"})
			results <- err
		}()
	}
	made := 0
	for range cap(results) {
		if awaited(t, "the end of an init", results) == nil {
			made++
		}
	}
	if made != 1 {
		t.Errorf("%d inits succeeded, want 1", made)
	}
	runNode(t, home)
}

// It prevents: a node does not start because its record, while it is opened, has to decide between
// two files of one path that are back on the disk.
func TestPreferBeforeAnythingIsFolded(t *testing.T) {
	n, p := new(Node), protocol.NewPath("aaaaaaaa-0000-4000-8000-000000000024", time.Unix(1, 0), 1)
	one, other := []byte("one"), []byte("other")
	if n.prefer(p, one, other) == n.prefer(p, other, one) {
		t.Error("it depends on the order")
	}
}
