package node

import (
	"os"

	"github.com/parleyfleet/parley/bus"
)

// leaveCertificate writes the certificate of the clients port into the cache, for
// NATS clients that have to be told which one to believe. It is made anew with
// every start and holds no secret.
func (n *Node) leaveCertificate(b *bus.Bus) {
	if b.Addresses().Clients == "" {
		return
	}
	if err := os.WriteFile(n.home.Certificate(), b.Certificate(), 0o600); err != nil {
		n.log.Warn().Err(err).Msg("cannot write the certificate for NATS clients")
	}
}
