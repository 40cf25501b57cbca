package bus

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/internal/testkit/natstool"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

// The server in these tests is nats-server as its makers built it, in a process
// of its own, configured as the operator of an existing system would.

// permissionsOf is what that operator gives a host, as docs/how-to/use-an-existing-nats-system.md
// asks for.
func permissionsOf(alias protocol.Name) string {
	return fmt.Sprintf(`{publish: ["parley.dawn.%s.>", "_INBOX.dawn.>"], subscribe: ["parley.dawn.>", "_INBOX.dawn.%s.>"]}`, alias, alias)
}

func nkeyUser(t *testing.T, h *host) string {
	return fmt.Sprintf("{nkey: %s, permissions: %s}\n", publicKey(t, h.opts.Key), permissionsOf(h.alias))
}

func users(list ...string) string {
	return "authorization {users: [\n" + strings.Join(list, "") + "]}\n"
}

// reader is a client that may read the fleet's letters and say nothing.
const reader = `{user: eve, password: "listens", permissions: {subscribe: "parley.>", publish: {deny: ">"}}}` + "\n"

// converse lets two hosts hear, ask and answer each other.
func converse(t *testing.T, one, two *host) {
	t.Helper()
	for _, h := range []*host{one, two} {
		h.start(t).awaitLinked(t, 1)
		awaitUp(t, h)
		h.Serve("echo", echo)
	}
	m, data := one.publish(t, 1)
	two.await(t, "the message", func() bool { return len(two.messages) == 1 })
	if got := two.messages[0]; got.Path != m.Path || string(got.Data) != string(data) || got.Sender != one.alias {
		t.Errorf("heard %+v", got)
	}
	for _, pair := range [][2]*host{{one, two}, {two, one}} {
		want := pair[0].alias.String() + " said hello"
		if got, err := pair[0].Ask(askContext(t), pair[1].alias, "echo", []byte("hello")); err != nil || string(got) != want {
			t.Errorf("Ask = %q, %v, want %q", got, err, want)
		}
	}
	for _, h := range []*host{one, two} {
		if n := h.Offences().Refused + h.Offences().Malformed + h.Dropped(); n != 0 {
			t.Errorf("%s counts %d of what it could not use", h.alias, n)
		}
		awaitUp(t, h)
	}
}

func awaitUp(t *testing.T, h *host) {
	t.Helper()
	awaitTrue(t, "the system to be up", func() bool { return onlyLink(t, h).Up })
}

func awaitProblem(t *testing.T, h *host, words ...string) {
	t.Helper()
	var last Link
	awaitTrue(t, strings.Join(words, " … "), func() bool {
		last = onlyLink(t, h)
		for _, word := range words {
			if last.Up || !strings.Contains(last.Problem, word) {
				return false
			}
		}
		return true
	})
}

// Two hosts on a server that knows their keys and gives each its permissions; a
// third client reads letters that anybody can read; who speaks in another's name
// is refused; the server is killed and comes back.
func TestPlainServerWithNkeys(t *testing.T) {
	t.Parallel()
	f := newFleet()
	one, two := newHost(t, f, "white"), newHost(t, f, "oracle-world")
	srv := natstool.Serve(t, users(nkeyUser(t, one), nkeyUser(t, two), reader))
	for _, h := range []*host{one, two} {
		h.opts.URL = "nats://" + srv.Address
	}
	outsider, err := nats.Connect("nats://eve:listens@"+srv.Address, nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait))
	if err != nil {
		t.Fatal(err)
	}
	defer outsider.Close()
	letters := subscribe(t, outsider, "parley.>")
	converse(t, one, two)
	letter, err := letters.NextMsg(scratch.Patience())
	if want := "parley.dawn.white.hey.homekeeper"; err != nil || letter.Subject != want || !strings.HasSuffix(string(letter.Data), "---\n\nmessage 1\n") {
		t.Errorf("the outsider heard %v, %v, want a letter on %s", letter, err, want)
	}

	before := len(two.paths())
	claimed, _ := message(t, one, 99)
	forged := nats.NewMsg("parley.dawn.oracle-world.hey.mawjs")
	forged.Header.Set(protocol.HeaderPath, claimed.Path.String())
	if err := one.conn.PublishMsg(forged); err != nil {
		t.Fatal(err)
	}
	awaitProblem(t, one, "does not let this host publish to parley.dawn.oracle-world.hey.mawjs")
	if n := len(two.paths()); n != before {
		t.Errorf("a letter in another's name arrived")
	}

	srv.Stop()
	awaitTrue(t, "the break", func() bool { return !onlyLink(t, two).Up })
	srv.Start(t)
	one.awaitLinked(t, 2)
	two.awaitLinked(t, 2)
	one.publish(t, 2)
	two.await(t, "a message after the restart", func() bool { return len(two.messages) == 2 })
}

// A host whose key, or whose permissions, the system does not know yet says what
// to ask for, and comes up when it is given.
func TestPlainServerThatDenies(t *testing.T) {
	t.Parallel()
	f := newFleet()
	h, other := newHost(t, f, "white"), newHost(t, f, "black")
	srv := natstool.Serve(t, users(nkeyUser(t, other)))
	h.opts.URL = "nats://" + srv.Address
	h.start(t)
	awaitProblem(t, h, "does not accept this host's key", publicKey(t, h.opts.Key),
		"publish to parley.dawn.white.> and _INBOX.dawn.>", "subscribe to parley.dawn.> and _INBOX.dawn.white.>")

	srv.Stop()
	srv.Configure(t, users(fmt.Sprintf("{nkey: %s, permissions: {publish: \"parley.dawn.white.>\", subscribe: \"_INBOX.dawn.white.>\"}}", publicKey(t, h.opts.Key))))
	srv.Start(t)
	awaitProblem(t, h, "does not let this host subscribe to parley.dawn.>", "let this user publish to parley.dawn.white.>")

	srv.Configure(t, users(nkeyUser(t, h), nkeyUser(t, other)))
	srv.Reload(t)
	other.opts.URL = h.opts.URL
	other.start(t).awaitLinked(t, 1) // the system has read its new configuration
	h.system.retry()
	awaitUp(t, h)
	other.publish(t, 1)
	h.await(t, "a message", func() bool { return len(h.messages) == 1 })

	// The connection goes on with the key that it was made with.
	next := newKey(t)
	if err := h.Rekey(next); err != nil {
		t.Fatal(err)
	}
	srv.Stop()
	srv.Configure(t, users(nkeyUser(t, other)))
	srv.Start(t)
	awaitProblem(t, h, "does not accept the key that this host had when it started: stop and start the node", publicKey(t, next))
}

// operator is who runs a NATS system with decentralised accounts.
type operator struct {
	account nkeys.KeyPair
	config  string // of the server
}

func newOperator(t *testing.T) operator {
	t.Helper()
	operatorKey, err := nkeys.CreateOperator()
	if err != nil {
		t.Fatal(err)
	}
	accountKey, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	op, err := jwt.NewOperatorClaims(publicKey(t, operatorKey)).Encode(operatorKey)
	if err != nil {
		t.Fatal(err)
	}
	claims := jwt.NewAccountClaims(publicKey(t, accountKey))
	claims.Name = "fleet"
	account, err := claims.Encode(operatorKey)
	if err != nil {
		t.Fatal(err)
	}
	return operator{accountKey, fmt.Sprintf("operator: %s\nresolver: MEMORY\nresolver_preload: {%s: %s}\n", op, publicKey(t, accountKey), account)}
}

// creds writes a credentials file for a user with these permissions, as nsc does.
func (o operator) creds(t *testing.T, publish, subscribe []string) string {
	t.Helper()
	key := newKey(t)
	claims := jwt.NewUserClaims(publicKey(t, key))
	claims.Pub.Allow.Add(publish...)
	claims.Sub.Allow.Add(subscribe...)
	token, err := claims.Encode(o.account)
	if err != nil {
		t.Fatal(err)
	}
	seed, err := key.Seed()
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.FormatUserConfig(token, seed)
	if err != nil {
		t.Fatal(err)
	}
	return writeFile(t, "user.creds", text)
}

func writeFile(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Two hosts with credentials files on a server of an operator; then one whose
// credentials are of somebody else, until the file is replaced.
func TestPlainServerWithCredentials(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	srv := natstool.Serve(t, o.config)
	f := newFleet()
	one, two := newHost(t, f, "white"), newHost(t, f, "oracle-world")
	for _, h := range []*host{one, two} {
		h.opts.URL = "nats://" + srv.Address
		h.opts.Login.Creds = o.creds(t, []string{"parley.dawn." + h.alias.String() + ".>", "_INBOX.dawn.>"},
			[]string{"parley.dawn.>", "_INBOX.dawn." + h.alias.String() + ".>"})
	}
	converse(t, one, two)

	three := newHost(t, f, "black")
	three.opts.URL = one.opts.URL
	three.opts.Login.Creds = newOperator(t).creds(t, nil, nil)
	three.start(t)
	awaitProblem(t, three, "does not accept the credentials in "+three.opts.Login.Creds)
	renewed, err := os.ReadFile(o.creds(t, nil, nil))
	if err == nil {
		err = os.WriteFile(three.opts.Login.Creds, renewed, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	three.awaitLinked(t, 1)
}

// The other ways to say who one is: a user nkey of its own, user and password, a
// token, and inboxes below a prefix that the system prescribes.
func TestPlainServerWithOtherLogins(t *testing.T) {
	t.Parallel()
	f := newFleet()
	one, two := newHost(t, f, "white"), newHost(t, f, "oracle-world")
	key := newKey(t)
	seed, err := key.Seed()
	if err != nil {
		t.Fatal(err)
	}
	srv := natstool.Serve(t, users(
		fmt.Sprintf("{nkey: %s, permissions: %s}\n", publicKey(t, key), strings.ReplaceAll(permissionsOf("white"), `["parley.dawn.white.>", "_INBOX.dawn.>"]`, `["parley.dawn.white.>", "_INBOX.dawn.>", "_MINE.>"]`)),
		`{user: two, password: "pass word", permissions: {publish: ["parley.dawn.oracle-world.>", "_INBOX.dawn.>"], subscribe: ["parley.dawn.>", "_MINE.>"]}}`+"\n"))
	one.opts.URL, two.opts.URL = "nats://"+srv.Address, "nats://"+srv.Address
	one.opts.Login.NKey = writeFile(t, "user.nk", seed)
	two.opts.Login = Login{User: "two", Password: "pass word", InboxPrefix: "_MINE"}
	converse(t, one, two)

	srv = natstool.Serve(t, "authorization {token: \"se-cret\"}\nmax_payload: 64KB\n")
	three := newHost(t, f, "black")
	three.opts.URL, three.opts.Login.Token = "nats://"+srv.Address, "se-cret"
	three.start(t).awaitLinked(t, 1)
	if l := onlyLink(t, three); !l.Up || l.Peer != three.opts.URL || !strings.Contains(l.Problem, "at most 65536 bytes") {
		t.Errorf("a system that carries little: %+v", l)
	}
	four := newHost(t, f, "grey")
	four.opts.URL = "nats://wrong@" + srv.Address
	four.start(t)
	awaitProblem(t, four, "does not accept the user and password, or the token")
	if l := onlyLink(t, four); strings.Contains(l.Peer+l.Problem, "wrong") {
		t.Errorf("%+v shows the token", l)
	}
}
