package protocol

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nkeys"
)

func inviteLine(t testing.TB) InviteLine {
	t.Helper()
	pair, err := nkeys.FromRawSeed(nkeys.PrefixByteUser, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	key, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return InviteLine{
		Addresses: []string{"192.0.2.7:4223", "[2001:db8::7]:4223", "white.example:4223"}, Alias: "white", Key: key,
		RecordID: strings.Repeat("ab", 20), Secret: [SecretSize]byte{1, 2, 3}, Expires: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

func TestInviteLineRoundTrip(t *testing.T) {
	want := inviteLine(t)
	got, err := ParseInviteLine(want.String())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.Expired(want.Expires.Add(-time.Second)) || !got.Expired(want.Expires) {
		t.Error("it does not expire when it should")
	}
	other := want
	other.Secret[0]++
	if got.ID() == other.ID() || got.Mark() == other.Mark() || got.Prover().Equal(other.Prover()) {
		t.Error("lines with other secrets are not told apart")
	}
}

// A line that lost a character anywhere, or has one changed, is refused with words that say so.
func TestInviteLineCutOff(t *testing.T) {
	line := inviteLine(t).String()
	for n := len(InviteScheme); n < len(line); n++ {
		if _, err := ParseInviteLine(line[:n]); err == nil {
			t.Errorf("it takes the first %d characters", n)
		}
		changed := []byte(line)
		changed[n] ^= 1
		if _, err := ParseInviteLine(string(changed)); err == nil {
			t.Errorf("it takes a change at %d", n)
		}
	}
	if _, err := ParseInviteLine(line[:len(line)-10]); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("a line that was cut off: %v", err)
	}
}

func TestInviteLineRefused(t *testing.T) {
	line := inviteLine(t)
	at, code, _ := strings.Cut(line.String(), "/#")
	data, err := base64.RawURLEncoding.DecodeString(code)
	if err != nil {
		t.Fatal(err)
	}
	data[0] = 2
	later := at + "/#" + base64.RawURLEncoding.EncodeToString(data)
	anywhere, wordy := line, line
	anywhere.Addresses = []string{"0.0.0.0:4223"}
	wordy.Alias = "White Rabbit"
	for text, want := range map[string]string{
		later:               "up to date",
		anywhere.String():   "all addresses",
		wordy.String():      "names no host",
		"https://x.example": "begins with parley://",
		InviteScheme + strings.Repeat("a", maxInviteLine): "at most",
	} {
		if _, err := ParseInviteLine(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, and not %q", text, err, want)
		}
	}
}

func FuzzParseInviteLine(f *testing.F) {
	f.Add(inviteLine(f).String())
	f.Add("parley://a:1/#AA")
	f.Fuzz(func(t *testing.T, line string) {
		i, err := ParseInviteLine(line)
		if err == nil && i.String() != line {
			t.Errorf("%q is read, and written as %q", line, i.String())
		}
	})
}
