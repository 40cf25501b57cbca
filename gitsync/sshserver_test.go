package gitsync

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// sshServer starts a server that runs what it is asked to run with a shell, as a host with git
// does. It gives this process a home with a key for the server, and returns host:port.
func sshServer(t *testing.T) string {
	t.Helper()
	hostKey, _ := newSSHKey(t)
	_, userKey := newSSHKey(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("SSH_AUTH_SOCK", "")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := listener.Addr().String()
	writeFile(t, filepath.Join(home, ".ssh", "id_ed25519"), userKey)
	writeFile(t, filepath.Join(home, ".ssh", "known_hosts"), knownhosts.Line([]string{at}, hostKey.PublicKey())+"\n")
	config := &ssh.ServerConfig{PublicKeyCallback: func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) { return nil, nil }}
	config.AddHostKey(hostKey)
	var serving sync.WaitGroup
	serving.Go(func() { // ends with the listener
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { serveSSH(conn, config) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		serving.Wait()
	})
	return at
}

func newSSHKey(t *testing.T) (ssh.Signer, string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return signer, string(pem.EncodeToMemory(block))
}

// serveSSH serves one connection until its other end closes it.
func serveSSH(conn net.Conn, config *ssh.ServerConfig) {
	defer conn.Close()
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests) // ends with the connection
	for asked := range channels {
		channel, requests, err := asked.Accept()
		if err != nil {
			return
		}
		for r := range requests {
			var command struct{ Text string }
			isCommand := r.Type == "exec" && ssh.Unmarshal(r.Payload, &command) == nil
			_ = r.Reply(isCommand, nil) // the other end may be gone
			if !isCommand {
				continue
			}
			go runForSSH(channel, command.Text) // ends with the channel
		}
	}
}

func runForSSH(channel ssh.Channel, command string) {
	defer channel.Close()
	cmd := exec.Command("sh", "-c", command)
	cmd.Env = append(ownEnvironment(), "HOME="+os.DevNull)
	in, err := cmd.StdinPipe()
	if err != nil {
		return
	}
	go func() { // ends with the channel
		buffer := make([]byte, 32<<10)
		for {
			n, err := channel.Read(buffer)
			_, _ = in.Write(buffer[:n]) // a command that has ended reads no more
			if err != nil {
				_ = in.Close()
				return
			}
		}
	}()
	cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
	status := struct{ Code uint32 }{}
	if cmd.Run() != nil {
		status.Code = 1
	}
	_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(status)) // the other end may be gone
}
