package psi

import (
	"encoding/json"
	"fmt"
	"strings"
)

// ContactsFile is the file of ψ in which an agent keeps whom it knows.
const ContactsFile = "contacts.json"

// MaxContacts bounds the size of that file, in bytes.
const MaxContacts = 1 << 20

// Contact is what an agent keeps about somebody whom it knows (W13).
type Contact struct {
	Maw  string `json:"maw"`  // the name under which maw reaches them
	Node string `json:"node"` // the host that serves them
	Soul string `json:"soul"` // to whom they belong, in small letters; "" if nobody knows
}

// ParseContacts reads a contacts.json. The keys of the result are the names without the -oracle
// that folders have. If a name is there both with and without -oracle, the entry without it counts.
// It returns an error if the data is no JSON of that form.
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
		if c.Soul == "unknown" { // if it is unknown to whom two contacts belong, they are not of one soul
			c.Soul = ""
		}
		all[name] = c
	}
	return all, nil
}
