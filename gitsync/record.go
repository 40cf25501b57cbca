package gitsync

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/journal"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/gitremote"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/protocol"
)

const (
	repoName    = "record.git"
	journalName = "journal"
	idName      = "parley-record" // in record.git: the root commit, pinned
)

// Record is the messages of a fleet on this node. All methods may be called
// concurrently.
type Record struct {
	*Reader

	opts    Options
	log     zerolog.Logger
	store   *objects.Store
	journal *journal.Journal
	online  online
	unlock  func() error
	mender  *mender

	commitBell chan struct{} // there may be something to commit
	sharedNow  chan struct{} // closed by Share

	tell     *teller
	progress *progress
	updates  *updates
	contact  *contact
	courier  *courier
	room     room
	main     *mainline
	share    *sharer
	refs     *refs
	disk     *disk
	withheld *withheld
	losses   *lossBook // what main had and this disk can no longer give
	salvor   *salvor
	packs    *packNotes // only the commit loop uses it
	state    state

	closing  sync.Once
	closeErr error
}

// state is what a Record knows at the moment.
type state struct {
	mu sync.Mutex // guards all fields

	commitErr string    // why the last commit failed
	stopBy    time.Time // see StopBy
	closed    bool
}

// Open opens the record below opts.Dir, with what an earlier run has left in the journal. It puts
// right what a crash leaves behind, and logs that. If the disk has lost something, it brings back
// what the remote or the journal has. It goes on without the rest, and names it: see Lost.
//
// Errors: ErrNoRecord; ErrInUse; an UnusableError if nobody may use main (R1) and there is no remote.
// With a remote such a record is opened. Nothing is committed to it until a fetch has brought a main
// that may be used. When
// `ctx` ends, nothing more is fetched or pushed, except for the last push of Run.
func Open(ctx context.Context, opts Options) (*Record, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("cannot open the record: %w", err)
	}
	dir := filepath.Join(opts.Dir, repoName)
	r := &Record{
		opts:       opts,
		log:        opts.Log,
		commitBell: make(chan struct{}, 1),
		sharedNow:  make(chan struct{}),
		updates:    &updates{waiting: map[string]*fileUpdate{}, own: map[string]objects.Hash{}},
		tell:       &teller{events: opts.Events, log: opts.Log, queue: eventQueue{wake: make(chan struct{}, 1)}},
	}
	r.progress = &progress{
		shared: opts.isShared, tell: r.tell, log: r.log,
		held: map[protocol.Path][]*heldMessage{}, unpushed: map[protocol.Path]time.Time{},
	}
	r.contact = &contact{remote: opts.remote, dir: dir, lacking: func(said string) []string { return r.share.lacking(said) }, now: opts.Now, tell: r.tell, log: r.log}
	r.courier = &courier{shared: opts.isShared, peers: opts.Grace, pushInterval: opts.PushInterval}
	r.losses = &lossBook{path: filepath.Join(opts.Dir, journalName, lostName), lost: newLosses()}
	r.room = room{path: filepath.Join(opts.Dir, journalName, roomName), tell: r.tell, log: r.log}
	if err := isThere(opts, dir); err != nil {
		return nil, fmt.Errorf("cannot open the record: %w", err)
	}
	r.online = newOnline(ctx)
	r.tell.stopping = func() bool { return r.online.ctx.Err() != nil }
	if err := r.open(ctx, dir); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot open the record: %w", err), r.Close())
	}
	return r, nil
}

func (r *Record) open(ctx context.Context, dir string) error {
	journalDir := filepath.Join(r.opts.Dir, journalName)
	if err := os.MkdirAll(journalDir, 0o700); err != nil {
		return fmt.Errorf("cannot make the journal: %w", err)
	}
	var err error
	if r.unlock, err = journal.Lock(journalDir); err != nil {
		return err
	}
	if err := completeRepository(dir, r.log); err != nil {
		return err
	}
	if err := carrier.CheckConfig(dir); err != nil {
		return fmt.Errorf("%s: %w", repoName, err)
	}
	if r.store, err = objects.Open(dir, r.log); err != nil {
		return err
	}
	r.assemble()
	r.store.HealBy(r.mender.mend)
	if err := os.RemoveAll(filepath.Join(r.opts.Dir, mendName)); err != nil {
		return fmt.Errorf("cannot remove what is left of mending: %w", err)
	}
	r.share.git = carrier.New(r.opts.Dial, r.store, r.opts.Remote, r.opts.Builtin)
	if r.opts.Patient {
		r.share.git.BePatient()
	}
	did, err := r.store.Repair(carrier.MainRef, carrier.RemoteRef, carrier.FetchedRef)
	for _, what := range did {
		r.log.Info().Msg("record tidied: " + what)
	}
	if err != nil {
		return err
	}
	// The journal is read first, because it may have what the disk has lost.
	if r.journal, err = journal.Open(journalDir, journal.Options{}); err != nil {
		return err
	}
	r.progress.journal = r.journal
	if r.withheld, err = openWithheld(r.opts.Dir); err != nil {
		return err
	}
	r.progress.withheld = r.withheld
	if err := r.replay(ctx); err != nil {
		return err
	}
	if err := r.refs.healMain(); err != nil {
		return err
	}
	if err := r.salvor.restoreMain(ctx); err != nil {
		return err
	}
	err = r.openBranches(ctx)
	if objects.IsDamage(err) { // a loss that the list of packs does not show
		r.log.Warn().Err(err).Msg("main is looked at in all")
		if err = r.salvor.recover(ctx); err == nil {
			err = r.openBranches(ctx)
		}
	}
	if err != nil {
		return err
	}
	if err := r.noteLostEntries(); err != nil {
		return err
	}
	if err := firstPackOf(r.opts.Dir).keep(r.store, r.id); err != nil { // this is no reason not to start
		r.log.Info().Err(err).Msg("there is no second copy of the first commit")
	}
	r.notePacks()
	_, err = r.store.Shaken() // whatever was wrong has been looked at
	r.store.Settle()
	return err
}

// assemble puts together the parts that work on the repository, when that is open.
func (r *Record) assemble() {
	r.tell.store, r.tell.online, r.progress.store = r.store, r.online.ctx, r.store
	r.refs = &refs{store: r.store, tell: r.tell, log: r.log}
	r.packs = &packNotes{store: r.store, path: filepath.Join(r.store.Dir(), packsName), log: r.log}
	r.Reader = &Reader{store: r.store, progress: r.progress, log: r.log}
	r.mender = &mender{opts: r.opts, store: r.store, progress: r.progress, online: r.online.ctx, log: r.log}
	author := objects.Identity(r.opts.Author).Clean()
	r.main = &mainline{
		opts: r.opts, author: author, store: r.store, gate: gate{store: r.store, check: r.opts.Check, lost: r.IsLost}, reader: r.Reader, refs: r.refs, progress: r.progress,
		updates: r.updates, courier: r.courier, tell: r.tell, changed: func() { ring(r.share.pushBell) }, log: r.log,
	}
	survey := surveyor{r.store, r.progress, r.opts.Looking}
	r.salvor = &salvor{
		opts: r.opts, author: author, store: r.store, reader: r.Reader, progress: r.progress, survey: survey, refs: r.refs,
		losses: r.losses, packs: r.packs, mender: r.mender, main: r.main, log: r.log,
	}
	r.disk = &disk{
		store: r.store, progress: r.progress, survey: survey, losses: r.losses, shared: r.opts.isShared, reunite: r.salvor.reunite,
		fetchAnew: func() { ring(r.share.fetchBell) }, tell: r.tell, log: r.log,
	}
	r.main.disk = r.disk
	r.share = &sharer{
		opts: r.opts, reader: r.Reader, store: r.store, main: r.main, refs: r.refs, disk: r.disk, progress: r.progress,
		contact: r.contact, courier: r.courier, online: r.online, tell: r.tell, keep: r.Append,
		jitter: jitter{main: r.Reader, log: r.log},
		refiller: refiller{
			store: r.store, refs: r.refs, progress: r.progress, main: r.main, disk: r.disk, losses: r.losses,
			salvor: r.salvor, mender: r.mender, tell: r.tell, log: r.log,
		},
		pushBell: make(chan struct{}, 1), fetchBell: make(chan struct{}, 1), retryBell: make(chan struct{}, 1),
	}
}

// openBranches finds out what main and the remote's main are.
func (r *Record) openBranches(ctx context.Context) error {
	reunite := func() error { return r.salvor.reunite(ctx) }
	for _, step := range []func() error{r.refs.healRemote, r.openMain, r.openRemote, reunite, r.progress.recordPresent, r.progress.settle} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (r *Record) openMain() error {
	tip, ok, err := r.store.Ref(carrier.MainRef)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("its branch main does not exist")
	}
	tree, err := r.store.TreeOf(tip)
	if err != nil {
		return err
	}
	err = checkVersion(r.store, tree)
	switch {
	case errors.Is(err, errNoVersion) || errors.Is(err, ErrDamaged):
		r.log.Warn().Err(err).Msg(versionFile + " cannot be read; it is put back")
		r.updates.add(versionFile, &fileUpdate{data: []byte(versionText + "\n")})
	case err != nil && !errors.Is(err, ErrForeign):
		return err
	}
	r.progress.mainIs(tip, tree)
	if err := r.main.gate.tip(tip); r.opts.Remote == "" && errors.As(err, new(*UnusableError)) {
		return err // only the remote could bring a main that may be used
	}
	r.id, err = recordID(r.store, r.log, tip)
	return err
}

// openRemote recalls the remote's tip, if the remote is still the same.
func (r *Record) openRemote() error {
	if r.opts.Remote == "" {
		return nil
	}
	known, err := carrier.RemoteOf(r.store.Dir())
	if err == nil && known != carrier.Noted(known) { // an earlier version has noted passwords
		known = carrier.Noted(known)
		err = carrier.SetRemote(r.store.Dir(), known)
	}
	// The query of a URL is not noted. So nobody knows whether the remote is the same.
	if err != nil || known != carrier.Noted(r.opts.Remote) || gitremote.HasQuery(r.opts.Remote) {
		return err
	}
	tip, ok, err := r.store.Ref(carrier.RemoteRef)
	if err != nil || !ok {
		return err
	}
	tree, err := r.store.TreeOf(tip)
	if err != nil {
		return err
	}
	r.progress.remoteIs(tip, tree)
	return nil
}

// replay takes in what earlier runs left in the journal.
func (r *Record) replay(ctx context.Context) error {
	entries, trouble := r.journal.Replayed()
	for _, what := range trouble {
		r.log.Warn().Msg("journal: " + what)
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("cannot read the journal: %w", err)
		}
		p, err := protocol.ParsePath(e.Path)
		if err != nil {
			r.log.Error().Err(err).Msg("an entry of the journal is left there")
			continue
		}
		r.progress.hold(MessageFile{Path: p, Data: e.Data, Peer: e.Peer}, objects.BlobHash(e.Data), e.ID)
	}
	return nil
}

// Close ends the use of the record. What was stored stays. End Run before. Close may be called
// twice.
func (r *Record) Close() error {
	r.closing.Do(func() {
		r.state.mu.Lock()
		r.state.closed = true
		r.state.mu.Unlock()
		r.online.end()
		// The reverse order of opening: the lock is released last.
		var errs []error
		if r.journal != nil {
			errs = append(errs, r.journal.Close())
		}
		if r.store != nil {
			errs = append(errs, r.mender.rest(true), r.store.Seal())
			if r.id != objects.Zero {
				r.notePacks()
			}
		}
		if r.unlock != nil {
			errs = append(errs, r.unlock())
		}
		if err := errors.Join(errs...); err != nil {
			r.closeErr = fmt.Errorf("cannot close the record: %w", err)
		}
	})
	return r.closeErr
}

// ID is the hash of the root commit, in hex. It is the name of the record.
func (r *Record) ID() string { return r.id.String() }

// Tip is the hash of main's commit, in hex.
func (r *Record) Tip() string {
	tip, _ := r.progress.main()
	return tip.String()
}

// Status is a snapshot for people.
func (r *Record) Status() Status {
	news := r.tell.waiting()
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	s := Status{
		Remote:       redact.Remote(r.opts.remote()),
		CommitError:  r.state.commitErr,
		StoreError:   r.room.lacking(),
		Place:        r.courier.at(),
		Packs:        r.store.Packs(),
		JournalBytes: r.journal.Bytes(),
		Broken:       r.disk.broken(),
		Arriving:     news.arriving,
		Arrived:      news.arrived,
	}
	r.progress.report(&s)
	r.contact.report(&s)
	return s
}

func ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}
