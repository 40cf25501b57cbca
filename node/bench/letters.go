package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/protocol"
)

// bodyBytes is the length of a message's text, about that of a short paragraph.
const bodyBytes = 400

// author writes messages as a node does: signed, and each naming the one before.
type author struct {
	key    nkeys.KeyPair
	record string
	host   protocol.Name
	from   string
	run    string
	seq    uint64
	prev   string
	random *rand.Rand // the same texts in every run
}

func newAuthor(record string, host protocol.Name, key nkeys.KeyPair) *author {
	return &author{key: key, record: record, host: host, from: "nat", run: "0be7c402",
		random: rand.New(rand.NewPCG(1, uint64(len(host))))}
}

// write is the next message, to one addressee, at a time that is not before the last.
func (a *author) write(to string, at time.Time) (gitsync.MessageFile, error) {
	return a.sign(protocol.Message{
		From: a.from, To: []protocol.Address{{Name: to}}, Act: protocol.ActHey, Body: text(a.random),
	}, protocol.DeriveChannel(a.record, a.from, to), at)
}

// sign makes a message of the record of what somebody says in a channel.
func (a *author) sign(m protocol.Message, channel protocol.ChannelID, at time.Time) (gitsync.MessageFile, error) {
	a.seq++
	m.Path, m.Timestamp, m.Type = protocol.NewPath(channel, at, a.random.Uint32()), at.Truncate(time.Millisecond), protocol.TypeText
	m.Host, m.Run, m.Seq, m.Prev = a.host, a.run, a.seq, a.prev
	data, err := protocol.Sign(&m, a.record, a.key)
	if err != nil {
		return gitsync.MessageFile{}, fmt.Errorf("cannot sign a message: %w", err)
	}
	a.prev = protocol.Hash(data)
	return gitsync.MessageFile{Path: m.Path, Data: data}, nil
}

// text is a body that compresses about as well as what people write.
func text(random *rand.Rand) string {
	words := strings.Fields("the a we they record message agent host said that this when because before after under over " +
		"push commit branch remote journal fleet channel please look at answer with without should would could done open " +
		"closed later tomorrow deadline review release notes build failed passed again once never always every some")
	var b strings.Builder
	for b.Len() < bodyBytes {
		fmt.Fprintf(&b, "%s ", words[random.IntN(len(words))])
		if random.IntN(12) == 0 {
			fmt.Fprintf(&b, "%x ", random.Uint32())
		}
	}
	return strings.TrimSpace(b.String()[:bodyBytes])
}

// lettersOfADay are `n` messages of one channel and one day. That is the hardest case for a record:
// each message makes a new version of one long list of files.
func (s *stand) lettersOfADay(ctx context.Context, record string, n int) ([]gitsync.MessageFile, error) {
	key, err := nkeys.CreateUser()
	if err != nil {
		return nil, fmt.Errorf("cannot make a key: %w", err)
	}
	a := newAuthor(record, hostName(0), key)
	midnight := time.Now().UTC().Truncate(24 * time.Hour)
	letters := make([]gitsync.MessageFile, n)
	for i := range letters {
		if i%1000 == 0 {
			s.progress("writing messages", i, n)
		}
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		at := midnight.Add(time.Duration(i) * 24 * time.Hour / time.Duration(n))
		if letters[i], err = a.write("mawjs", at); err != nil {
			return nil, err
		}
	}
	return letters, nil
}

// hostName is the alias of the host with this number.
func hostName(i int) protocol.Name { return protocol.Name(fmt.Sprintf("host%d", i)) }
