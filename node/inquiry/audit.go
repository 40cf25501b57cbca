package inquiry

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/fleet/policy"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/inquiry/place"
	"github.com/parleyfleet/parley/protocol"
)

// Audit reads an inquiry from a git repository alone, a clone or a bare one, without a node, and
// proves what can be proved of it. Keys and signatures are judged as every host judges them, from
// the whole record. `id` is the inquiry's channel, the beginning of that, or the message that began
// it; "" means the newest.
func Audit(ctx context.Context, repository, id string) (doc control.FrameDocument, proof control.FrameProof, err error) {
	anchor, state, refused, err := foldGit(ctx, repository)
	if err != nil {
		why := control.AsError(err)
		return doc, proof, control.Errorf(why.Kind, why.Hint, "cannot read the record in %s: %s", repository, why.Message)
	}
	q := New(Options{RecordID: anchor.RecordID, Now: time.Now, Folded: func(read func(*fleet.State)) { read(state) }})
	found, err := q.known.find(state, id)
	if err != nil {
		return doc, proof, err
	}
	mail, extra, err := mailBeside(ctx, repository, state, found)
	if err != nil {
		return doc, proof, err
	}
	proved := inquiries.Verify(anchor.RecordID, func(yield func(*affair.Candidate) bool) {
		for c := range state.DeedsOf(inquiries.KindName, found.Channel.String()) {
			m := *c.Message
			c.Message, m.Extra = &m, extra[m.Path]
			if proof.Deeds++; !yield(c) {
				return
			}
		}
	}, mail)
	v := proved.Inquiry
	proved.Faults = append(proved.Faults, holes(state, proved)...)
	channels := []protocol.ChannelID{v.Channel}
	for _, t := range v.Tensions {
		channels = append(channels, protocol.TensionChannel(anchor.RecordID, v.Channel, t.ID))
	}
	for _, r := range refused { // otherwise a message that somebody has changed would only look missing
		if slices.Contains(channels, r.path.Channel()) {
			proved.Faults = append(proved.Faults, inquiry.Fault{At: r.path, Why: "it is refused: " + r.why.Error(), Breaks: true})
		}
	}
	doc = q.document(state, v)
	proof.Record, proof.Frame, proof.Question, proof.State, proof.StateText, proof.Faults = anchor.RecordID, v.Channel.String(), v.Opening.Text, string(v.State), v.State.String(), proved.Faults
	proof.Holds = !slices.ContainsFunc(proved.Faults, func(f inquiry.Fault) bool { return f.Breaks })
	for _, l := range inquiries.Lines() {
		result, shown := proved.Of(l)
		one := control.FrameLine{Line: l.ID, Text: l.Text, Result: string(result)}
		if !shown.IsZero() {
			one.Shown = shown.String()
		}
		proof.Lines = append(proof.Lines, one)
	}
	return doc, proof, nil
}

// mailBeside are the messages of a record that are no deeds of an inquiry and may have to do with it:
// what was written from its first member's start on, what lies in its dialogues, and what its question
// may be from. Their order is that of the record. `extra` are the fields of its deeds that nobody
// knows, which a host does not keep.
func mailBeside(ctx context.Context, dir string, state *fleet.State, v inquiries.Inquiry) (mail []inquiries.Mail, extra map[protocol.Path][]protocol.Field, err error) {
	wanted, deeds := map[protocol.Path]affair.Position{}, map[protocol.Path]bool{}
	for c := range state.DeedsOf(inquiries.KindName, v.Channel.String()) {
		deeds[c.Message.Path] = true
	}
	for it := range state.Ledger.All() {
		spec, known := protocol.FindAct(it.Act)
		source := it.Path.String() == v.Opening.Message || it.Author().Name == v.By.Name && it.Host.String() == v.By.Host && known && spec.Act.Mail()
		meanwhile := it.Place.After(v.Began.Add(-time.Minute)) && (v.End.At.IsZero() || it.Place.Before(v.End.At.Add(time.Minute)))
		other := strings.HasPrefix(string(it.Act), "frame-") && state.Void(it) == nil // a deed that counts in another inquiry
		if !deeds[it.Path] && !other && (source && v.Opening.Message != "" || meanwhile) {
			wanted[it.Path] = affair.Position{Place: it.Place, Path: it.Path}
		}
	}
	tip, err := tipOf(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	extra = map[protocol.Path][]protocol.Field{}
	err = eachMessage(ctx, dir, tip, func(p protocol.Path, data []byte) {
		at, ok := wanted[p]
		if !ok && !deeds[p] {
			return
		}
		switch m, err := protocol.Decode(p, data); {
		case err != nil:
		case deeds[p]:
			extra[p] = m.Extra
		case m.Type != protocol.TypeRead || m.Body != "":
			mail = append(mail, inquiries.Mail{Message: m, Position: at})
		}
	})
	slices.SortFunc(mail, func(a, b inquiries.Mail) int {
		if a.Before(b.Position) {
			return -1
		}
		return 1
	})
	return mail, extra, err
}

// holes are the places from the beginning of an inquiry on where the chain of one of its hosts
// misses a message: with plain git somebody took one out, or put one in.
func holes(state *fleet.State, proved inquiries.Proof) (faults []inquiry.Fault) {
	for _, f := range state.Verify(time.Now()) {
		it, ok := state.Ledger.Item(f.Path)
		if f.Kind == fleet.FindingChain && ok && slices.Contains(proved.Hosts(), it.Host) && !f.Path.Time().Before(proved.Inquiry.Began.Truncate(time.Millisecond)) {
			faults = append(faults, inquiry.Fault{At: f.Path, Why: f.Text, Breaks: true})
		}
	}
	return faults
}

// foldGit folds the content of the main branch of a repository. It uses only the git program.
func foldGit(ctx context.Context, dir string) (anchor keys.Anchor, s *fleet.State, refused []refusedFile, err error) {
	tip, err := tipOf(ctx, dir)
	if err != nil {
		return anchor, nil, nil, err
	}
	// The first commit is the record's id. In a shallow clone another commit would pass for it, and
	// every channel would look like one of another record.
	if out, err := place.RunGit(ctx, dir, "rev-parse", "--is-shallow-repository"); err != nil || strings.TrimSpace(string(out)) == "true" {
		return anchor, nil, nil, control.Errorf(control.KindRefused, "git fetch --unshallow there, or clone it whole", "a shallow clone has no first commit, by which a record is known")
	}
	roots, err := place.RunGit(ctx, dir, "rev-list", "--max-parents=0", tip)
	if err != nil {
		return anchor, nil, nil, err
	}
	all := strings.Fields(string(roots))
	if len(all) != 1 {
		return anchor, nil, nil, fmt.Errorf("it has %d first commits, and a record has one", len(all))
	}
	anchor.RecordID = all[0]
	if text, err := place.RunGit(ctx, dir, "show", anchor.RecordID+":"+protocol.FounderPath); err == nil {
		if anchor.Founder, err = protocol.ParseFounder(text); err != nil {
			return anchor, nil, nil, err
		}
	}
	s = fleet.New(anchor, inquiries.Kind(anchor.RecordID), policy.Kind(anchor.RecordID))
	err = eachMessage(ctx, dir, tip, func(p protocol.Path, data []byte) {
		if _, err := s.Apply(p, data); err != nil { // it is left out, as on every host
			refused = append(refused, refusedFile{p, err})
		}
	})
	return anchor, s, refused, err
}

// tipOf is the commit of a repository that is read.
func tipOf(ctx context.Context, dir string) (string, error) {
	for _, ref := range []string{"refs/heads/main", "refs/remotes/origin/main", "HEAD"} {
		if out, err := place.RunGit(ctx, dir, "rev-parse", "--verify", "--quiet", ref+"^{commit}"); err == nil {
			return strings.TrimSpace(string(out)), nil
		}
	}
	return "", control.Errorf(control.KindRefused, "stand in a clone of the record", "it is no git repository with a branch main")
}

// refusedFile is a file at the place of a message that is no message.
type refusedFile struct {
	path protocol.Path
	why  error
}

// eachMessage reads the files of all messages of a commit.
func eachMessage(ctx context.Context, dir, tip string, yield func(protocol.Path, []byte)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := place.Git(ctx, dir, "cat-file", "--batch")
	wanted, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	paths := make(chan protocol.Path, 256) // those of objects that are asked for and not read yet
	var listed error
	go func() { // ends with the list, or with ctx
		defer close(paths)
		defer wanted.Close()
		listed = place.ReadGit(ctx, dir, func(list io.Reader) error { return eachPath(ctx, list, wanted, paths) },
			"ls-tree", "-r", "-z", "--format=%(objectname) %(path)", tip, "--", protocol.ChannelsDir+"/")
	}()
	read := readBatch(bufio.NewReader(out), paths, yield)
	if read != nil {
		stop()
		for range paths { // until nobody lists any more
		}
		return errors.Join(read, cmd.Wait())
	}
	return errors.Join(listed, cmd.Wait())
}

// maxEntry bounds an entry of the list of files, in bytes: no path of a message is so long.
const maxEntry = 64 << 10

// eachPath asks for the objects of all messages in a list of files, and says which they are.
func eachPath(ctx context.Context, list io.Reader, wanted io.Writer, paths chan<- protocol.Path) error {
	r := bufio.NewReaderSize(list, maxEntry)
	for whole := true; ; {
		entry, err := r.ReadSlice(0)
		if err == io.EOF {
			return nil
		}
		begins := whole
		if whole = err == nil; !whole && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		object, name, _ := strings.Cut(strings.TrimSuffix(string(entry), "\x00"), " ")
		p, err := protocol.ParsePath(strings.TrimPrefix(name, protocol.ChannelsDir+"/"))
		if !begins || !whole || err != nil {
			continue // no message
		}
		select {
		case paths <- p:
		case <-ctx.Done():
			return ctx.Err()
		}
		if _, err := io.WriteString(wanted, object+"\n"); err != nil {
			return err
		}
	}
}

// readBatch reads what git cat-file --batch prints, one object for each path.
func readBatch(r *bufio.Reader, paths <-chan protocol.Path, yield func(protocol.Path, []byte)) error {
	for p := range paths {
		head, err := r.ReadString('\n')
		if err != nil {
			return err
		}
		var object, kind string
		var size int
		if _, err := fmt.Sscanf(head, "%s %s %d", &object, &kind, &size); err != nil || kind != "blob" {
			return fmt.Errorf("git has no file for %s: %s", p, strings.TrimSpace(head))
		}
		if size > protocol.MaxFile {
			if _, err := r.Discard(size + 1); err != nil {
				return err
			}
			continue // no message is so long
		}
		data := make([]byte, size+1)
		if _, err := io.ReadFull(r, data); err != nil {
			return err
		}
		yield(p, data[:size])
	}
	return nil
}

// document is everything about an inquiry. It is asked while the state is read.
func (q *Inquiries) document(s *fleet.State, v inquiries.Inquiry) control.FrameDocument {
	d := control.FrameDocument{
		Record: q.RecordID, Frame: q.view(s, v, true), Context: v.Context.Text, Dialogues: v.Tensions, Agreements: v.Synthesis.Agreements, Basis: slices.Concat(v.Synthesis.Basis, v.Synthesis.Others),
		Inputs: v.Inputs, Findings: v.End.Findings.Findings, Late: v.Late,
	}
	d.Frame.Perspectives = proposed(s, v)
	for _, g := range v.Gates {
		verdict := g.Verdict()
		for _, a := range g.Answers {
			one := control.FrameDecision{
				Gate: g.Gate, About: g.Perspective, Text: a.Words.Text, Human: a.Human + "@" + a.Host.String(), Time: a.At.UTC(), Message: a.Path.String(), Key: a.Key,
				Counts: verdict != nil && verdict.Hash == a.Hash,
			}
			for _, c := range a.Words.Chosen {
				one.Chosen = append(one.Chosen, c.Options...)
			}
			d.Decisions = append(d.Decisions, one)
		}
	}
	for _, m := range v.Members {
		for _, a := range m.Earlier {
			d.Attempts = append(d.Attempts, control.FrameAttempt{Perspective: m.Perspective, Attempt: a.Attempt, Agent: a.Agent.String(), Result: a.Text})
		}
	}
	return d
}

// proposed are the perspectives of all proposals that count. An inquiry keeps only its last proposal,
// and a document says of each perspective what it reveals.
func proposed(s *fleet.State, v inquiries.Inquiry) []protocol.InquiryPerspective {
	list := []protocol.InquiryPerspective{}
	for c := range s.DeedsOf(inquiries.KindName, v.Channel.String()) {
		it, ok := s.Ledger.Item(c.Message.Path)
		w, err := protocol.ProposePerspectives.Parse(c.Message.Body)
		if c.Act != protocol.ActFrameProposals || !ok || s.Void(it) != nil || err != nil {
			continue
		}
		for _, p := range w.Perspectives {
			list = append(slices.DeleteFunc(list, func(q protocol.InquiryPerspective) bool { return q.Name == p.Name }), p)
		}
	}
	return list
}
