package scripts

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// orphaned is set for a rawCall whose connection another process has opened.
const orphaned = "RAWCALL_ORPHANED"

// rawCall is a program that speaks to a control socket by hand: rawcall SOCKET VERB BODY. With
// "-orphan", the process that has opened the socket is answered once, and ends before the program
// asks. The answer then goes to the file OUT: rawcall -orphan OUT SOCKET VERB BODY.
func rawCall() {
	if err := rawCallOf(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func rawCallOf(args []string) error {
	if os.Getenv(orphaned) != "" {
		return askOrphaned(args)
	}
	out := ""
	if args[0] == "-orphan" {
		out, args = args[1], args[2:]
	}
	conn, err := net.Dial("unix", args[0])
	if err != nil {
		return err
	}
	if out == "" {
		return ask(conn, os.Stdout, args[1], args[2])
	}
	if err := write(conn, "status", "{}", "keep-alive"); err != nil {
		return err
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil {
		_, err = io.Copy(io.Discard, answer.Body)
	}
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGHUP) // for the child too: the end of this process may hang up its terminal
	file, err := conn.(*net.UnixConn).File()
	if err != nil {
		return err
	}
	child := exec.Command(os.Args[0], append([]string{out}, args[1:]...)...)
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%d", orphaned, os.Getpid()))
	child.ExtraFiles = []*os.File{file}
	return child.Start()
}

// askOrphaned asks once the process that has opened the socket has ended.
func askOrphaned(args []string) error {
	const inherited = 3
	for fmt.Sprint(os.Getppid()) == os.Getenv(orphaned) {
		<-time.After(time.Millisecond) // only spares the processor
	}
	conn, err := net.FileConn(os.NewFile(inherited, "socket"))
	if err != nil {
		return err
	}
	file, err := os.Create(args[0] + ".part")
	if err != nil {
		return err
	}
	if err := ask(conn, file, args[1], args[2]); err != nil {
		return err
	}
	return os.Rename(args[0]+".part", args[0])
}

func ask(conn net.Conn, out io.Writer, verb, body string) error {
	defer conn.Close()
	err := write(conn, verb, body, "close")
	if err == nil {
		_, err = io.Copy(out, conn)
	}
	return err
}

func write(conn net.Conn, verb, body, then string) error {
	var headers strings.Builder
	for name, variable := range map[string]string{"Parley-Token": "PARLEY_TOKEN", "Parley-Agent": "PARLEY_AGENT"} {
		if value := os.Getenv(variable); value != "" {
			fmt.Fprintf(&headers, "%s: %s\r\n", name, value)
		}
	}
	_, err := fmt.Fprintf(conn, "POST /v1/%s HTTP/1.1\r\nHost: node\r\nConnection: %s\r\n%sContent-Length: %d\r\n\r\n%s", verb, then, headers.String(), len(body), body)
	return err
}
