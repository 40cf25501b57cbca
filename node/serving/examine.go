package serving

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/shelf"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/psi"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/examiner"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/search"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// manyExams is how many checks are answered at the same time.
	manyExams = 8
	// claimHits is how many messages are looked at for one claim.
	claimHits = 16
	// claimWords is how many words of a claim are searched for.
	claimWords = 32
)

// examinations answer sync-checks for agents whose operator has set `examiner: mechanical`: by what
// the agent itself wrote, decided and remembers, without running it (R66). A check that could not
// be answered is tried again at the next start.
type examinations struct {
	*Options
	older func(configs.Agent) func(protocol.Path) bool // reports which messages the record held when the agent was added
	again chan struct{}                                // holds a token if everything that waits is to be looked at

	mu    sync.Mutex // guards what follows
	at    map[exam]bool
	later *time.Timer // when everything that waits is looked at again, because something is still on its way; nil: never
}

// exam is a check that one of the agents here has to answer.
type exam struct {
	check protocol.Path
	agent protocol.Name
}

func (ex *examinations) look() { wait.Nudge(ex.again) }

// lookLater has everything that waits looked at in a while. Many calls make only one look.
func (ex *examinations) lookLater() {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.later == nil {
		ex.later = time.AfterFunc(holePatience, func() {
			ex.mu.Lock()
			ex.later = nil
			ex.mu.Unlock()
			ex.look()
		})
	}
}

func (ex *examinations) start() (stop func()) { return wait.Background(ex.watch) }

func (ex *examinations) watch(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	came := ex.Messages.Follow(feed.MaxMessages, nil)
	defer came.End()
	places := make(chan struct{}, manyExams)
	due := ex.waiting()
	for {
		if ex.Halted() {
			due = nil // it is looked at again when answering is allowed
		}
		for _, e := range due {
			if !ex.begin(e) {
				continue
			}
			select {
			case places <- struct{}{}:
			case <-ctx.Done():
				return
			}
			work.Go(func() {
				defer func() { <-places; ex.end(e) }()
				if err := ex.answer(ctx, e); err != nil && ctx.Err() == nil {
					ex.Log.Error().Err(err).Stringer("agent", e.agent).Stringer("path", e.check).Msg("cannot answer a sync-check")
				}
			})
		}
		select {
		case <-came.Wake():
			paths, missed := came.Drain()
			due = ex.among(paths, missed)
		case <-ex.again:
			due = ex.waiting()
		case <-ctx.Done():
			return
		}
	}
}

func (ex *examinations) begin(e exam) bool {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.at[e] {
		return false
	}
	ex.at[e] = true
	return true
}

func (ex *examinations) end(e exam) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	delete(ex.at, e)
}

// examined are the agents here for which the node answers.
func (ex *examinations) examined() []configs.Agent {
	return slices.DeleteFunc(slices.Clone(ex.Roster.All()), func(a configs.Agent) bool { return a.Examiner != configs.ExaminerMechanical })
}

func (ex *examinations) waiting() (due []exam) {
	for _, a := range ex.examined() {
		old := ex.older(a)
		who := fleet.Who{Name: a.Name.String(), Host: ex.Host}
		var mail []protocol.Path
		ex.Folded(func(s *fleet.State) {
			for it := range s.Talk.Inbox(who, false) {
				if it.Act == protocol.ActSyncCheck {
					mail = append(mail, it.Path)
				}
			}
		})
		for _, p := range mail {
			if !old(p) {
				due = append(due, exam{p, a.Name})
			}
		}
	}
	return due
}

// among are the checks among messages that came. The word of a host may also make older mail count.
func (ex *examinations) among(paths []protocol.Path, missed int) (due []exam) {
	served := ex.examined()
	if len(served) == 0 {
		return nil
	}
	all := missed > 0
	ex.Folded(func(s *fleet.State) {
		for _, p := range paths {
			it, there := s.Ledger.Item(p)
			if all = all || !there || it.Act.HostWord(); all {
				return
			}
			for _, a := range served {
				if it.Act == protocol.ActSyncCheck && s.Talk.Reaches(it, fleet.Who{Name: a.Name.String(), Host: ex.Host}) {
					due = append(due, exam{p, a.Name})
				}
			}
		}
	})
	if all {
		return ex.waiting()
	}
	return due
}

// answer answers one check. A message that is no check is marked as read.
func (ex *examinations) answer(ctx context.Context, e exam) error {
	a, err := ex.Roster.Get(e.agent.String())
	if err != nil || a.Examiner != configs.ExaminerMechanical {
		return nil // it has changed in the meantime
	}
	who := fleet.Who{Name: a.Name.String(), Host: ex.Host}
	var claims []examiner.Claim
	open, leave, hole := false, false, false
	ex.Folded(func(s *fleet.State) {
		it, there := s.Ledger.Item(e.check)
		leave = !there || s.Talk.ReadBy(it, who) || a.Accepts == configs.AcceptVerified && !s.Talk.Vouched(it)
		if there {
			_, hole = s.Chains.GapBefore(it)
		}
		t := fleet.Value(s, topics.Kind(ex.Record.ID()), e.check.Channel().String(), ex.Now())
		for _, c := range t.Checks {
			if open = c.Path == e.check && c.Of == who.Name && c.Result == nil; open {
				claims = claimsOf(t, c, who.Name)
				return
			}
		}
	})
	switch {
	case leave:
		return nil
	case !open && hole: // the message that opens the topic may be on its way
		ex.lookLater()
		return nil
	case !open:
		_, err := ex.Act(ctx, fleet.GiveReceipt{As: who, Of: e.check}, e.check)
		return err
	}
	rows, err := ex.examine(ctx, a, claims)
	if err != nil {
		return err
	}
	_, err = ex.Act(ctx, fleet.Answer{As: who, To: e.check, Act: protocol.ActSyncResult, ByAgent: true, Body: protocol.AnswerSync.Format(protocol.SyncResult{
		FormHead: protocol.FormHead{From: who.Name, At: ex.Now(), Mark: protocol.Mechanical}, Rows: rows,
	})}, e.check)
	return err
}

// claimsOf are the claims of a check, each with what `who` did with its item. If a claim words the
// item differently, what they did says nothing: a label alone proves no words.
func claimsOf(t topics.Topic, c *topic.Check, who string) []examiner.Claim {
	claims := make([]examiner.Claim, len(c.Claims))
	for i, claim := range c.Claims {
		claims[i].Claim = protocol.Claim{ItemRef: claim.ItemRef, Source: claim.Source}
		it := t.Item(claim.Item)
		if it == nil || !strings.EqualFold(strings.Join(strings.Fields(it.Text()), " "), strings.Join(strings.Fields(claim.Text), " ")) {
			continue
		}
		claims[i].Own = ownOf(t, it, who)
	}
	return claims
}

// ownOf is what `who` did with an item; nil if they did nothing.
func ownOf(t topics.Topic, it *topic.Item, who string) *examiner.Own {
	if it.Sort != topic.Agreement {
		if it.By != who || it.Path == t.Opened {
			return nil // the question with which every topic begins is nobody's words
		}
		return &examiner.Own{Word: examiner.Wrote, Where: it.Path.RepoPath(), At: it.Time}
	}
	s := it.Stand(who)
	word, decided := map[topic.Phase]examiner.Word{
		topic.Accepted: examiner.Accepted, topic.Rejected: examiner.Rejected, topic.Deferred: examiner.Deferred, topic.TimedOut: examiner.Deferred, topic.Pending: examiner.Revoked,
	}[s.Phase], !s.Path.IsZero()
	if !decided {
		return nil
	}
	return &examiner.Own{Word: word, Where: s.Path.RepoPath(), At: s.Decided, Reason: s.Reason}
}

// examine scores claims by what the agent wrote.
func (ex *examinations) examine(ctx context.Context, a configs.Agent, claims []examiner.Claim) ([]protocol.SyncRow, error) {
	e := examiner.New(claims)
	texts, err := ex.messagesOf(ctx, a.Name, claims)
	if err != nil {
		return nil, err
	}
	for _, t := range append(texts, ex.memoriesOf(a.Name)...) {
		e.Read(t)
	}
	if a.RunAs == "" { // otherwise the folder is another user's, and this node would follow its links with its own rights
		at := psi.Of(a.Dir)
		shared := slices.ContainsFunc(ex.Roster.All(), func(other configs.Agent) bool { return other.Name != a.Name && psi.Share(at, psi.Of(other.Dir)) })
		if err := readNotes(ctx, at, shared, e.Read); err != nil {
			return nil, err
		}
	}
	return e.Rows(), nil
}

// messagesOf are messages that the agent wrote freely and that have words of a claim. A message
// that no host which serves the agent has signed could be anybody's, and is left out. So are deeds
// and answers to checks, which may repeat words of others.
func (ex *examinations) messagesOf(ctx context.Context, agent protocol.Name, claims []examiner.Claim) (texts []examiner.Text, err error) {
	seen := map[protocol.Path]bool{}
	for _, c := range claims {
		words := search.WordsOf(c.Text)
		if c.Own != nil || len(words) == 0 {
			continue
		}
		found, broken, err := ex.Indexer.Search(ctx, search.Query{
			Words: strings.Join(words[:min(len(words), claimWords)], " "), Any: true, From: agent.String(), Limit: claimHits,
		})
		if err != nil && (broken || ctx.Err() == nil && ex.Indexer.Pending() == 0) {
			return nil, err
		}
		for _, hit := range found.Hits {
			if t, ok := ex.textOf(agent, hit.Path); ok && !seen[hit.Path] {
				texts = append(texts, t)
			}
			seen[hit.Path] = true
		}
	}
	return texts, nil
}

// textOf is a message as evidence. `ok` is false if it can be none.
func (ex *examinations) textOf(agent protocol.Name, p protocol.Path) (t examiner.Text, ok bool) {
	var it, asked *fleet.Item
	ex.Folded(func(s *fleet.State) {
		if it, ok = s.Ledger.Item(p); !ok {
			return
		}
		switch it.Act {
		case protocol.ActHey, protocol.ActTell, protocol.ActBroadcast, protocol.ActNote, protocol.ActReply:
			ok = it.Author().Name == agent.String() && s.Talk.Vouched(it)
		default:
			ok = false
		}
		if of, answers := it.AnsweredPath(); ok && answers {
			if asked, ok = s.Ledger.Item(of); ok {
				ok = asked.Act != protocol.ActSyncCheck
			}
		}
	})
	if !ok {
		return t, false
	}
	m, err := ex.Load(it)
	if err != nil {
		return t, false
	}
	t = examiner.Text{Where: p.RepoPath(), First: ex.firstLine(p), At: it.Timestamp, Body: m.Body, Short: true}
	if asked != nil {
		if q, err := ex.Load(asked); err == nil {
			t.Answers = q.Body
		} else {
			return t, false // nobody could tell whose words they are
		}
	}
	return t, true
}

// firstLine is the number of the line at which the body of a message begins in its file.
func (ex *examinations) firstLine(p protocol.Path) int {
	data, err := ex.Record.Get(p)
	if err != nil {
		return 1
	}
	return bodyLine(data)
}

// bodyLine is the number of the first line behind a frontmatter and the empty lines there.
func bodyLine(data []byte) int {
	line, marks := 1, 0
	for l := range bytes.Lines(data) {
		switch l = bytes.TrimRight(l, "\r\n"); {
		case marks < 2 && string(l) == "---":
			marks++
		case marks == 0, marks == 2 && len(bytes.TrimSpace(l)) > 0:
			return line
		}
		line++
	}
	return line
}

// memoriesOf are the memories of the agent that hold. They have no signature: anybody who may push
// can write one in any name.
func (ex *examinations) memoriesOf(agent protocol.Name) (texts []examiner.Text) {
	ex.Folded(func(s *fleet.State) {
		for _, m := range s.Memories.List(shelf.MemoryFilter{From: agent.String()}) {
			first := 1
			if data, err := protocol.EncodeMemory(m.Memory); err == nil {
				first = bodyLine(data)
			}
			texts = append(texts, examiner.Text{
				Where: protocol.MemoryPath(m.File), First: first - 2, At: m.Timestamp, Short: true, Unproven: true, Body: "# " + m.Subject + "\n\n" + m.Body,
			})
		}
	})
	return texts
}
