package homes

import (
	"os"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/configs"
)

// ExistingSystem is what the configuration says about an existing NATS system, and who this host is
// there in the form of the bus. The content of the files is checked.
func ExistingSystem(b configs.Bus) (configs.System, bus.Login, error) {
	s, err := b.System(os.Getenv)
	if err != nil {
		return s, bus.Login{}, err
	}
	login := bus.Login{
		Creds: s.Creds, NKey: s.NKey, User: s.User, Password: s.Password, Token: s.Token,
		Cert: s.Cert, Key: s.Key, CA: s.CA, TLSFirst: s.TLSFirst, InboxPrefix: s.InboxPrefix,
	}
	return s, login, login.Check()
}
