package talk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/redactions"
	"github.com/parleyfleet/parley/fleet/shelf"
	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/search"
	"github.com/parleyfleet/parley/protocol"
)

// redactor hides texts that are redacted (R75), and clears them from what this host keeps besides the
// record: the index of words, the prompts that its agents were given, notifications that wait, and
// the files of topics.
type redactor struct {
	*tools
	tracer  *tracer
	outbox  *outbox
	indexer *search.Indexer
	came    chan struct{} // a redaction has come

	clearing sync.Mutex // held while something is cleared
}

// redactedHeard is how long a redaction waits for the hosts that are there to hear of it.
const redactedHeard = 3 * time.Second

// hides reports whether a message is a redaction, and the text that it names is hidden here.
func hides(s *fleet.State, it *fleet.Item) bool {
	if it.Act != protocol.ActRedact || s.Void(it) != nil {
		return false
	}
	r, err := protocol.Redact.Parse(it.Body)
	if err != nil {
		return false
	}
	_, hidden := s.Redactions.OfFile(r.File)
	return hidden
}

// Redact answers control.Redact.
func (rd *redactor) Redact(ctx context.Context, by control.Caller, r control.RedactRequest) (control.Redacted, error) {
	who, err := rd.Actors.Actor(by, "")
	if err != nil {
		return control.Redacted{}, err
	}
	file, it, m, err := rd.find(r.ID)
	if err != nil {
		return control.Redacted{}, err
	}
	word := protocol.Redaction{File: file, Reason: r.Reason}
	done := control.Redacted{File: file, Decides: word.Decides(), Reason: r.Reason}
	if strings.TrimSpace(r.Reason) == "" {
		return done, control.Errorf(control.KindUsage, "--reason TEXT, which everybody reads", "cannot redact %s: it needs a reason", file)
	}
	var standing redactions.Redaction
	hidden, own := false, false
	rd.Folded(func(s *fleet.State) {
		if h, joined := s.Keys().Host(rd.Config.Alias); joined {
			_, own, _ = h.HumanKeyNow(who.Name)
		}
		if err = s.Redactions.May(it, m.Memory, rd.Config.Alias, who.Name, own); err == nil {
			standing, hidden = s.Redactions.OfFile(file)
		}
	})
	if err != nil || r.Try && !hidden {
		return done, err
	}
	if !hidden {
		if err := rd.Signed(protocol.HumanDecision{Act: protocol.ActRedact, Reason: word.Decides()}, r.Hsig); err != nil {
			return done, err
		}
		if _, err := rd.Decider.DoFor(ctx, by, redactions.Redact(rd.Record.ID(), who.Name, rd.Config.Alias, file, r.Reason, r.Hsig)); err != nil {
			return done, err
		}
		rd.Folded(func(s *fleet.State) { standing, hidden = s.Redactions.OfFile(file) })
	}
	if !hidden {
		return done, control.Errorf(control.KindFailed, "parley record verify", "cannot redact %s: the word is written, and does not count", file)
	}
	rd.tryClear(ctx)
	done.By, done.Host, done.Time, done.Reason, done.Path = standing.By, standing.Host, standing.At, standing.Reason, standing.Path
	done.Hosts = rd.confirmed(ctx, standing.Path)
	return done, nil
}

// find finds what is to be redacted: a message, or else a memory.
func (rd *redactor) find(id string) (file string, it *fleet.Item, m shelf.Memory, err error) {
	it, err = rd.views.Item(strings.TrimPrefix(id, protocol.ChannelsDir+"/"))
	if err == nil {
		return it.Path.RepoPath(), it, m, nil
	}
	rd.Folded(func(s *fleet.State) {
		if name, none := s.Memories.Find(strings.TrimPrefix(id, protocol.MemoriesDir+"/")); none == nil {
			m, _ = s.Memories.In(name)
			file, err = protocol.MemoryPath(name), nil
		}
	})
	return file, nil, m, err
}

// confirmed is what is known of each host of the fleet and a redaction.
func (rd *redactor) confirmed(ctx context.Context, deed protocol.Path) []control.RedactedHost {
	rd.outbox.awaitHeard(ctx, &protocol.Message{Path: deed, To: []protocol.Address{{Name: protocol.All}}}, redactedHeard)
	hosts := []control.RedactedHost{{Host: rd.Config.Alias, Hides: true}}
	rd.tracer.askAll(ctx, []protocol.Path{deed}, func(host protocol.Name, traces []protocol.Trace) {
		h := control.RedactedHost{Host: host, Why: "it shows the text: its version does not know redactions, or it has not heard of this one"}
		for _, t := range traces {
			if slices.ContainsFunc(t.Steps, func(s protocol.TraceStep) bool { return s.Step == protocol.TraceHides }) && t.Path == deed {
				h.Hides, h.Why = true, ""
			}
		}
		if !slices.ContainsFunc(hosts, func(known control.RedactedHost) bool { return known.Host == host }) {
			hosts = append(hosts, h)
		}
	}, func(silent control.TraceStep) {
		why := "it does not answer"
		if silent.Step == control.TraceNotAsked {
			why = "it is away, and hides the text once it is back"
		}
		hosts = append(hosts, control.RedactedHost{Host: silent.Host, Why: why})
	})
	slices.SortFunc(hosts, func(a, b control.RedactedHost) int { return strings.Compare(a.Host.String(), b.Host.String()) })
	return hosts
}

// Came says that a redaction has come. It never waits.
func (rd *redactor) Came() {
	select {
	case rd.came <- struct{}{}:
	default:
	}
}

// Start clears what is redacted, now and whenever a redaction comes, until `stop` is called.
func (rd *redactor) Start() (stop func()) {
	rd.Came()
	return wait.Background(func(ctx context.Context) {
		for {
			select {
			case <-ctx.Done():
				return
			case <-rd.came:
			}
			rd.tryClear(ctx)
		}
	})
}

func (rd *redactor) tryClear(ctx context.Context) {
	if err := rd.clear(ctx); err != nil && ctx.Err() == nil {
		rd.Log.Error().Err(err).Msg("this host may still keep words of a text that is redacted; the next start tries again")
	}
}

// clear takes the words of redacted texts out of what this host keeps. It does nothing if it has done
// so for the same texts.
func (rd *redactor) clear(ctx context.Context) error {
	defer rd.clearing.Unlock()
	rd.clearing.Lock()
	var files []string
	rd.Folded(func(s *fleet.State) { files = s.Redactions.Files() })
	sum := sha256.Sum256([]byte(strings.Join(files, "\n")))
	mark := hex.EncodeToString(sum[:]) + "\n"
	if was, err := os.ReadFile(rd.Cleared); len(files) == 0 || err == nil && string(was) == mark {
		return nil
	}
	err := rd.indexer.Forget(ctx, func(path string) bool {
		_, hidden := slices.BinarySearch(files, protocol.ChannelsDir+"/"+path)
		return hidden
	})
	if err := errors.Join(err, rd.Forget()); err != nil {
		return err
	}
	return durable.WriteFile(rd.Cleared, []byte(mark), 0o600)
}
