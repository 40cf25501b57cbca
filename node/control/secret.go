package control

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/parleyfleet/parley/internal/secrets"
)

// Handling is what a caller wants done with secrets in what it says. The zero value refuses them.
type Handling string

// The handlings.
const (
	MaskSecrets  Handling = "mask" // the kind of each stands in its place, before the node gets it
	AllowSecrets Handling = "ok"   // they are stored as they are: for an operator alone
)

// headerSecrets says that an operator wants a secret to be stored.
const headerSecrets = "Parley-Secrets"

// Handling is the client that does so with secrets.
func (c *Client) Handling(h Handling) *Client {
	handling := *c
	handling.secrets = h
	return &handling
}

// keepsOut refuses a request that says a secret, and a caller who is no operator and wants to store
// one. It is the only place that decides it, so what a request can say needs no look of its own.
func keepsOut(c Caller, v VerbSpec, h Handling, body []byte) error {
	if h == AllowSecrets && c.Kind != Operator {
		return Errorf(KindRefused, "leave --secret-ok out; --mask replaces a secret", "cannot %s: that a secret is stored is for a person to decide, in a terminal (known by %s)", v.doing(), c.How)
	}
	if v.Access == Reads || v.Local || h == AllowSecrets {
		return nil
	}
	var found []secrets.Found
	if _, err := eachText(body, func(text string) string {
		found = append(found, secrets.Find(text)...)
		return text
	}); err != nil || len(found) == 0 {
		return err
	}
	more := ""
	if len(found) > 1 {
		more = fmt.Sprintf(", and like %d more", len(found)-1)
	}
	hint := "--mask replaces it, or --secret-ok"
	if c.Kind != Operator {
		hint = "--mask replaces it; never send a secret: say where it is kept"
	}
	return Errorf(KindSecret, hint, "cannot %s: it looks like %s in line %d%s; nothing was stored", v.doing(), secrets.A(found[0].Kind), found[0].Line, more)
}

// masked is a request without the secrets that it says.
func masked(body []byte) ([]byte, error) {
	return eachText(body, func(text string) string {
		text, _ = secrets.Mask(text)
		return text
	})
}

// eachText is a request in which `change` was applied to each text, in the order of the names of the
// fields. Unless `change` changes something, it is the same bytes.
func eachText(body []byte, change func(string) string) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var request any
	if err := dec.Decode(&request); err != nil {
		return nil, Errorf(KindUsage, "", "cannot read the request: %v", err)
	}
	changed := false
	request = changeTexts(request, func(text string) string {
		next := change(text)
		changed = changed || next != text
		return next
	})
	if !changed {
		return body, nil
	}
	return json.Marshal(request)
}

func changeTexts(v any, change func(string) string) any {
	switch v := v.(type) {
	case string:
		return change(v)
	case []any:
		for i := range v {
			v[i] = changeTexts(v[i], change)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			v[key] = changeTexts(v[key], change)
		}
	}
	return v
}
