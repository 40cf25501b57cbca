package door

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The commands that these tests run are the test binary itself, in one of the roles below. A role
// that lives on dials the test. Its connection tells that the role is up. The end of the connection
// tells that it is dead.
const (
	roleVar = "PARLEY_DOOR_TEST_ROLE"
	dialVar = "PARLEY_DOOR_TEST_DIAL"
)

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(m.Run())
	}
	code, ok := play(role)
	if !ok {
		fmt.Fprintln(os.Stderr, "no such role:", role)
		code = 99
	}
	os.Exit(code)
}

// play does what a test's command does, and returns the exit code.
func play(role string) (code int, ok bool) {
	switch role {
	case "echo": // prints what it reads
		io.Copy(os.Stdout, os.Stdin)
	case "spell": // prints its arguments, decoded
		for _, arg := range os.Args[1:] {
			text, err := strconv.Unquote(`"` + arg + `"`)
			if err != nil {
				return 98, true
			}
			os.Stdout.WriteString(text)
		}
	case "complain": // fails as it is told
		fmt.Fprintln(os.Stderr, "first\nno luck")
		code, _ := strconv.Atoi(os.Args[1])
		return code, true
	case "tell": // prints its arguments and what it reads, each on a line
		input, _ := io.ReadAll(os.Stdin)
		for _, arg := range append(os.Args[1:], string(input)) {
			fmt.Printf("%q\n", arg)
		}
	case "write": // writes its second argument, decoded, to the file of the first, prints the third
		text, err := strconv.Unquote(`"` + os.Args[2] + `"`)
		if err != nil {
			return 98, true
		}
		os.WriteFile(os.Args[1], []byte(text), 0o644)
		fmt.Println(os.Args[3])
	case "misplace": // makes a folder of the file that it should write
		os.Mkdir(os.Args[1], 0o700)
		fmt.Println("thinking\nwell")
	case "write-and-hold": // writes half an answer and lives until it is killed
		os.WriteFile(os.Args[1], []byte("half"), 0o644)
		phone(role)
		select {}
	case "flood": // prints as many bytes as it is told, on both outputs
		n, _ := strconv.Atoi(os.Args[1])
		os.Stdout.Write(bytes.Repeat([]byte("o"), n))
		os.Stderr.Write(append(bytes.Repeat([]byte("e"), n), "end"...))
	case "flood-on": // prints until it is ended
		for {
			if _, err := os.Stdout.Write(bytes.Repeat([]byte("o"), 1<<10)); err != nil {
				return 1, true
			}
		}
	case "obey": // answers when it is told to, and ends
		io.ReadAll(phone(role))
		fmt.Println("done")
	case "hold": // lives until it is killed
		phone(role)
		select {}
	case "polite": // says good-bye to SIGTERM
		ch := make(chan os.Signal, 1)
		signal.Notify(ch, syscall.SIGTERM)
		phone(role)
		<-ch
		fmt.Println("bye")
	case "stubborn": // ignores SIGTERM
		signal.Ignore(syscall.SIGTERM)
		phone(role)
		select {}
	case "announce": // like hold, and says on standard error that it is up
		phone(role)
		fmt.Fprintln(os.Stderr, "up")
		select {}
	case "parent": // leaves a child behind that keeps its output open
		fmt.Println("hi")
		return leave("announce", os.Stdout), true
	case "quiet-parent": // leaves a child behind that has none of its outputs
		fmt.Println("hi")
		return leave("announce", nil), true
	case "family": // has a child and lives on
		if code := leave("announce", os.Stdout); code != 0 {
			return code, true
		}
		phone(role)
		select {}
	default:
		return playUnix(role)
	}
	return 0, true
}

// phone dials the test, and says the role and the number of this process.
func phone(role string) net.Conn {
	conn, err := net.Dial("tcp", os.Getenv(dialVar))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(97)
	}
	fmt.Fprintf(conn, "%s %d\n", role, os.Getpid())
	return conn
}

// leave starts a child with the output given, waits until the child says that it is up, and leaves
// it alone. It returns the exit code.
func leave(role string, output io.Writer) int {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), roleVar+"="+role)
	child.Stdout = output
	inOwnSession(child, role)
	said, err := child.StderrPipe()
	if err == nil {
		err = child.Start()
	}
	if err == nil {
		_, err = bufio.NewReader(said).ReadString('\n')
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 96
	}
	return 0
}

// switchboard takes the calls of the roles of one test.
type switchboard struct {
	t        *testing.T
	listener net.Listener
	self     string // the test binary, absolute
}

func newSwitchboard(t *testing.T) switchboard {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return switchboard{t: t, listener: l, self: self}
}

// command returns a Command that plays a role.
func (s switchboard) command(role string, args ...string) Command {
	return Command{
		Argv: append([]string{s.self}, args...),
		Env:  []string{roleVar + "=" + role, dialVar + "=" + s.listener.Addr().String()},
	}
}

// call is the connection of one process.
type call struct {
	net.Conn
	role string
	pid  int
}

// answer waits for the next process to phone.
func (s switchboard) answer() call {
	s.t.Helper()
	conn, err := s.listener.Accept()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		s.t.Fatal(err)
	}
	role, pid, _ := strings.Cut(strings.TrimSpace(line), " ")
	n, err := strconv.Atoi(pid)
	if err != nil {
		s.t.Fatal(err)
	}
	return call{Conn: conn, role: role, pid: n}
}

// wantDead waits until the process at the other end is dead. The deadline only ends a test that has
// failed.
func (c call) wantDead(t *testing.T) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := c.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("%s (process %d) lives", c.role, c.pid)
	}
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error)
	return ok && timeout.Timeout()
}
