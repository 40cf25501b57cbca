package caller

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// token identifies the bearer of PARLEY_TOKEN. In text it is its JSON and a MAC, both in base64url,
// with a dot between them.
type token struct {
	Agent   protocol.Name `json:"a"`
	Because string        `json:"m,omitempty"` // the path of the message for which the run is
	Run     string        `json:"r,omitempty"` // "": it counts as long as the agent is served
	Issued  int64         `json:"t"`           // Unix time
	Until   int64         `json:"u,omitempty"` // when the run is over at the latest
}

// maxToken bounds the length of a token that is looked at, in bytes.
const maxToken = 1024

// The reasons why a token is refused.
var (
	errNoToken  = errors.New("it is no token of this node")
	errEnded    = errors.New("its run is over")
	errUnserved = errors.New("its agent is not served here any more")
)

// seal writes a token.
func (b *Book) seal(t token) string {
	data, err := json.Marshal(t)
	if err != nil {
		return "" // strings and numbers can always be written
	}
	text := base64.RawURLEncoding.EncodeToString(data)
	return text + "." + b.mac(text)
}

func (b *Book) mac(text string) string {
	mac := hmac.New(sha256.New, b.o.Key)
	mac.Write([]byte("parley-token-v1\x00" + text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// open reads a token. The error says why it does not count.
func (b *Book) open(text string) (token, error) {
	t, ok := b.read(text)
	if !ok {
		return t, errNoToken
	}
	return t, b.counts(t)
}

// read reads a token that this home has sealed, whether it still counts or not.
func (b *Book) read(text string) (t token, ok bool) {
	front, mac, ok := strings.Cut(text, ".")
	if !ok || len(text) > maxToken || !hmac.Equal([]byte(mac), []byte(b.mac(front))) {
		return t, false
	}
	data, err := base64.RawURLEncoding.DecodeString(front)
	return t, err == nil && json.Unmarshal(data, &t) == nil
}

func (b *Book) counts(t token) error {
	now := b.o.Now()
	if t.Run == "" {
		if since, served := b.o.Serves(t.Agent); !served || since.Unix() > t.Issued {
			return errUnserved
		}
		return nil
	}
	over := time.Unix(t.Until, 0)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch r := b.runs[t.Run]; {
	case r != nil && r.ended.IsZero():
		return nil
	case r != nil:
		over = r.ended
	case t.Issued > b.began.Unix():
		return errEnded // it was of this node, and is forgotten because an hour has passed
	case b.began.Before(over):
		over = b.began // the runs of an earlier node ended with that node
	}
	if now.Sub(over) > outlives {
		return errEnded
	}
	return nil
}

// cause is the message of a token's run.
func (t token) cause() protocol.Path {
	p, err := protocol.ParsePath(t.Because)
	if err != nil {
		return protocol.Path{} // it has no message
	}
	return p
}
