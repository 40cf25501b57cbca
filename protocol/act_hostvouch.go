package protocol

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Vouch is what a host says of the keys of others, in the body of host-vouch: it has seen them
// before any other key claimed the same place. The vouches of the most senior hosts decide the keys
// of hosts. So a join or rotation with an older date takes nothing from anybody (DESIGN, section
// 6).
type Vouch struct {
	Host  Name
	Knows []HostKey // at most MaxVouched
}

// MaxVouched is how many keys one message may vouch for.
const MaxVouched = 1000

// ActHostVouch is the act of a Vouch.
const ActHostVouch Act = "host-vouch"

// HostVouch is the act by which a host vouches for keys.
var HostVouch = NewAct(ActSpec{
	Act: ActHostVouch, Heading: "HOST-VOUCH", Class: ClassHostWord,
	Doc: "Says which keys of other hosts a host has seen first.",
}, parseVouch, formatVouch, Vouch{Host: "oracle-world", Knows: []HostKey{{"white", exampleKey}}})

func formatVouch(v Vouch) string {
	var b strings.Builder
	b.WriteString(wordHead(ActHostVouch, v.Host))
	for _, k := range v.Knows {
		fmt.Fprintf(&b, "knows: %s %s\n", k.Host, k.Key)
	}
	return NormalBody(b.String())
}

func parseVouch(body string) (Vouch, error) {
	var v Vouch
	host, err := readWord(body, func(key, value string) error {
		if key != "knows" {
			return nil
		}
		k, err := parseHostKey(value)
		switch {
		case err != nil:
			return err
		case slices.Contains(v.Knows, k):
			return nil
		case len(v.Knows) == MaxVouched:
			return fmt.Errorf("a message vouches for at most %d keys", MaxVouched)
		}
		v.Knows = append(v.Knows, k)
		return nil
	})
	if err == nil && len(v.Knows) == 0 {
		err = errors.New("it vouches for nobody")
	}
	v.Host = host
	return v, err
}
