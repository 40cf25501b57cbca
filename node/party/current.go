package party

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"github.com/parleyfleet/parley/internal/durable"
)

// current keeps which party each agent means if it names none. Only this host uses that, and
// nothing important depends on it: a file that cannot be read counts as empty.
type current struct {
	file string
	mu   sync.Mutex // held while the file is read and written
}

// of returns the message that began the party which somebody chose; "" if they chose none.
func (c *current) of(me string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()[me]
}

func (c *current) read() map[string]string {
	var chosen map[string]string
	if data, err := os.ReadFile(c.file); err != nil || json.Unmarshal(data, &chosen) != nil || chosen == nil {
		return map[string]string{}
	}
	return chosen
}

// set notes that somebody means a party from now on.
func (c *current) set(me, organized string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	chosen := c.read()
	if chosen[me] == organized {
		return nil
	}
	chosen[me] = organized
	data, err := json.Marshal(chosen)
	if err == nil {
		err = durable.WriteFile(c.file, append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot keep which party is meant: %w", err)
	}
	return nil
}
