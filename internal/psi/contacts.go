package psi

import (
	"encoding/json"
	"fmt"
	"strings"
)

// ContactsFile is the file of ψ in which an agent keeps whom it knows.
const ContactsFile = "contacts.json"

// MaxContacts bounds that file, in bytes.
const MaxContacts = 1 << 20

// Contact is what an agent keeps of somebody it knows (W13).
type Contact struct {
	Maw  string `json:"maw"`  // the name by which maw reaches it
	Node string `json:"node"` // the host that serves it
	Soul string `json:"soul"` // whose it is, in small letters; "" where nobody knows
}

// ParseContacts reads a contacts.json: whom it names, by their names without the -oracle that
// folders have. Who is there with it and without is who is there without. It is an error where
// that is no JSON of its form.
func ParseContacts(data []byte) (map[string]Contact, error) {
	var file struct {
		Contacts map[string]Contact `json:"contacts"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("cannot read the contacts: %w", err)
	}
	all := map[string]Contact{}
	for key, c := range file.Contacts {
		key = strings.TrimSpace(key)
		name := strings.TrimSuffix(key, "-oracle")
		if _, plain := file.Contacts[name]; plain && name != key {
			continue
		}
		c.Maw, c.Node, c.Soul = strings.TrimSpace(c.Maw), strings.TrimSpace(c.Node), strings.ToLower(strings.TrimSpace(c.Soul))
		if c.Soul == "unknown" { // two of whom nobody knows whose they are are not of one soul
			c.Soul = ""
		}
		all[name] = c
	}
	return all, nil
}
