package protocol_test

import (
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

func TestCheckHostPort(t *testing.T) {
	for _, good := range []string{
		"192.0.2.7:4223", "[2001:db8::7]:1", "white:65535", "a.b-c.example:4223", "my_host:1", "example.org.:4223", "localhost:7", "127.0.0.1:7", "xn--9a:1",
	} {
		if err := protocol.CheckHostPort(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", ":", ":4223", "white", "white:", "white:0", "white:65536", "white:+1", "white:01", "white:1 ", " white:1", "wh ite:1", "white\n:1",
		"2001:db8::7:4223", "[2001:db8::7]", "[fe80::1%eth0]:1", "[white]:1", "[192.0.2.7]:1", "[::1:1", "0.0.0.0:1", "[::]:1", "[::ffff:0.0.0.0]:1",
		"-a:1", "a-:1", "a..b:1", ".:1", "user@white:1", "nats://white:1", "white/x:1", "wéiß:1", strings.Repeat("a.", 130) + "a:1",
	} {
		if err := protocol.CheckHostPort(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	if host, port, err := protocol.SplitHostPort("[::1]:0"); host != "::1" || port != 0 || err != nil {
		t.Errorf("got %q, %d, %v", host, port, err)
	}
}

// An address that is taken is one that can be split, written and split again.
func FuzzSplitHostPort(f *testing.F) {
	for _, seed := range []string{"192.0.2.7:4223", "[2001:db8::7]:1", "a.b-c.example:0", "[::1", "a:65536", ":1", "a.:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		host, port, err := protocol.SplitHostPort(address)
		if err != nil {
			if protocol.CheckHostPort(address) == nil {
				t.Errorf("%q cannot be split and is taken", address)
			}
			return
		}
		if again := net.JoinHostPort(host, strconv.Itoa(int(port))); again != address {
			t.Errorf("%q is %q when it is written again", address, again)
		}
	})
}
