package node

import (
	"github.com/parleyfleet/parley/node/homes"
	"github.com/spf13/pflag"
)

// linkFlags gives init and join the flags for links with other hosts.
func linkFlags(f *pflag.FlagSet, o *homes.Options) {
	f.StringVar(&o.Listen, "listen", "", "address:port for NATS clients, the next port for links of other hosts; 0.0.0.0 means all addresses")
	f.StringArrayVar(&o.Advertise, "advertise", nil, "host:port at which other hosts reach the links port, where it is another (repeatable)")
	f.StringArrayVar(&o.Hubs, "hub", nil, "[ALIAS@]host:port of a host to dial before those of the record (repeatable)")
}
